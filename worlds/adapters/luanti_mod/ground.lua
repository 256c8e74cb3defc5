-- The box of nodes that episodes happen in: made once, read out, and put back as it was.
return function(insecure)
	local ffi = insecure.require("ffi")
	local BLOCK = 16
	local lowest, highest, content, param2 -- of the box as it was made

	local function read(from, to)
		local manip = VoxelManip()
		local low, high = manip:read_from_map(from, to)
		return manip:get_data(), manip:get_param2_data(), VoxelArea:new({MinEdge = low, MaxEdge = high})
	end

	local ground = {}

	-- Searches outwards for dry land in most places of a square; returns the node at its middle, at the usual level.
	function ground.site(side)
		local best, most = {0, 8, 0}, -1
		for ring = 0, 12 do
			for x = -ring, ring do
				for z = -ring, ring do
					if math.max(math.abs(x), math.abs(z)) == ring then
						local levels = {}
						for dx = -3, 3 do
							for dz = -3, 3 do
								local level = minetest.get_spawn_level(
									x * 64 + math.floor(dx * side / 8), z * 64 + math.floor(dz * side / 8)
								)
								if level then levels[#levels + 1] = level end
							end
						end
						if #levels > most then
							most = #levels
							table.sort(levels)
							best = {x * 64, levels[math.ceil(#levels / 2)] or 8, z * 64}
						end
						if most >= 46 then return best end
					end
				end
			end
		end
		return best
	end

	-- The middles of the pieces that Luanti makes at a time, all that touch a box, in the order they are to be made in.
	function ground.pieces(from, to)
		local side = BLOCK * tonumber(minetest.get_mapgen_setting("chunksize"))
		local first = -BLOCK * math.floor(side / BLOCK / 2) -- where the piece of the origin begins
		local function low(at) return math.floor((at - first) / side) * side + first end
		local middles, half = {}, math.floor(side / 2)
		for y = low(from[2]), to[2], side do
			for z = low(from[3]), to[3], side do
				for x = low(from[1]), to[1], side do
					middles[#middles + 1] = {x + half, y + half, z + half}
				end
			end
		end
		return middles
	end

	-- Makes the piece around a node, and answers when it is there.
	function ground.make(at, answer)
		local middle = vector.new(at[1], at[2], at[3])
		minetest.emerge_area(middle, middle, function() answer({}) end)
	end

	-- Keeps a box that was made in memory, and answers when all of it is there.
	function ground.load(from, to, answer)
		lowest, highest = vector.new(from[1], from[2], from[3]), vector.new(to[1], to[2], to[3])
		minetest.emerge_area(lowest, highest, function(_, _, left)
			if left > 0 then return end
			for x = lowest.x, highest.x + BLOCK - 1, BLOCK do
				for y = lowest.y, highest.y + BLOCK - 1, BLOCK do
					for z = lowest.z, highest.z + BLOCK - 1, BLOCK do
						minetest.forceload_block({x = x, y = y, z = z}, true)
					end
				end
			end
			content, param2 = read(lowest, highest)
			answer({})
		end)
	end

	-- Puts back every node that is not as it was made; returns how many.
	function ground.restore()
		local content_now, param2_now, area = read(lowest, highest)
		local count = 0
		for index in area:iterp(lowest, highest) do
			if content_now[index] ~= content[index] or param2_now[index] ~= param2[index] then
				minetest.swap_node(
					area:position(index),
					{name = minetest.get_name_from_content_id(content[index]), param2 = param2[index]}
				)
				count = count + 1
			end
		end
		return count
	end

	-- Writes uint16 [X, -Z, Y] of a box into a file and returns what the numbers stand for: "name param2".
	function ground.scan(low, size, path)
		local from = vector.new(low[1], low[2], low[3])
		local to = vector.add(from, vector.new(size[1] - 1, size[2] - 1, size[3] - 1))
		local content_now, param2_now, area = read(from, to)
		local names, index_of = {}, {}
		local cells = ffi.new("uint16_t[?]", size[1] * size[2] * size[3])
		local at = 0
		for x = from.x, to.x do
			for z = to.z, from.z, -1 do
				for y = from.y, to.y do
					local index = area:index(x, y, z)
					local key = content_now[index] * 256 + param2_now[index]
					local number = index_of[key]
					if not number then
						names[#names + 1] = minetest.get_name_from_content_id(content_now[index]) .. " " .. param2_now[index]
						number = #names - 1
						index_of[key] = number
					end
					cells[at] = number
					at = at + 1
				end
			end
		end
		local file = assert(insecure.io.open(path, "wb"))
		file:write(ffi.string(cells, at * 2))
		file:close()
		return names
	end

	return ground
end
