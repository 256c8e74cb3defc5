-- The same tree every time. Luanti draws which leaves a schematic keeps, and how tall it grows, by a generator that it
-- seeds with the time of day: with it, the world of one seed is another wood whenever it is opened.
local ALWAYS, NEVER = 254, 0
local GOLDEN = 0.6180339887 -- steps of it are spread evenly between 0 and 1

local function settled(chance, index)
	return chance / ALWAYS > index * GOLDEN % 1 and ALWAYS or NEVER
end

local function settled_schematic(source)
	local schematic = minetest.read_schematic(source, {write_yslice_prob = "all"})
	for index, cell in ipairs(schematic.data) do
		cell.prob = settled(cell.prob, index)
	end
	for index, slice in ipairs(schematic.yslice_prob) do
		slice.prob = settled(slice.prob, index)
	end
	return schematic
end

local function words_of(definition)
	local words = {}
	for _, field in ipairs({definition.decoration, definition.place_on, definition.biomes}) do
		words[#words + 1] = type(field) == "table" and table.concat(field, " ") or tostring(field)
	end
	return table.concat(words, " ")
end

-- All decorations in the order of their numbers. Those without a name do not tell theirs: they fill the gaps.
local function in_order()
	local by_number, nameless, count = {}, {}, 0
	for name, definition in pairs(minetest.registered_decorations) do
		local number = minetest.get_decoration_id(name)
		if number then
			by_number[number] = definition
		else
			nameless[#nameless + 1] = definition
		end
		count = count + 1
	end
	table.sort(nameless, function(one, other) return words_of(one) < words_of(other) end)
	local decorations, next_nameless = {}, 1
	for number = 0, count - 1 do
		decorations[number + 1] = by_number[number] or nameless[next_nameless]
		if not by_number[number] then next_nameless = next_nameless + 1 end
	end
	return decorations
end

minetest.register_on_mods_loaded(function()
	local decorations = in_order()
	minetest.clear_registered_decorations()
	-- Again in that order: it decides what grows where two want to, and other mods know them by their numbers.
	for index, decoration in ipairs(decorations) do
		local definition = table.copy(decoration)
		if definition.deco_type == "schematic" then
			definition.schematic = settled_schematic(definition.schematic)
		end
		minetest.register_decoration(definition)
		local number = definition.name and minetest.get_decoration_id(definition.name) or index - 1
		assert(number == index - 1, "mcrl: the decorations have other numbers now")
	end
end)
