-- Episodes from outside: answers requests that come over UDP on loopback, and tells after every step how things are.
-- A datagram is the session's token followed by JSON. Places are Luanti's own: nodes at whole numbers, +z north.

local path = minetest.get_modpath("mcrl")
local insecure = minetest.request_insecure_environment()
assert(insecure, "mcrl: the mod must be named in secure.trusted_mods")

local link = dofile(path .. "/link.lua")(insecure)
local ground = dofile(path .. "/ground.lua")(insecure)
local happenings = dofile(path .. "/happenings.lua")
dofile(path .. "/nodes.lua")
dofile(path .. "/trees.lua")

local agent_name = "agent"
local step_count = 0
local is_sprinting = false
local REACH = 4.5

local function agent()
	return minetest.get_player_by_name(agent_name)
end

-- Whoever holds it reaches as far as in Minecraft; and nothing changes the world but the agent.
minetest.register_on_mods_loaded(function()
	for name, item in pairs(minetest.registered_items) do
		if item.type == "none" or item.type == "tool" then
			minetest.override_item(name, {range = REACH})
		end
	end
	minetest.registered_abms = {}
	minetest.registered_lbms = {}
end)

minetest.register_on_joinplayer(function(player)
	player:set_properties({
		eye_height = 1.62, stepheight = 0.6, hp_max = 20, collisionbox = {-0.3, 0, -0.3, 0.3, 1.8, 0.3},
	})
	player:hud_set_flags({
		hotbar = false, healthbar = false, crosshair = false, wielditem = false, breathbar = false, minimap = false,
		basic_debug = false,
	})
	player:set_clouds({density = 0})
	player:set_sun({visible = false, sunrise_visible = false})
	player:set_moon({visible = false})
	player:set_stars({visible = false})
	player:set_inventory_formspec("")
	local inventory = player:get_inventory()
	inventory:set_size("main", 36)
	player:hud_set_hotbar_itemcount(9)
	minetest.set_player_privs(agent_name, {interact = true})
	minetest.settings:set("time_speed", "0")
end)

minetest.register_on_newplayer(function(player)
	player:get_inventory():set_list("main", {})
end)

local function hold(player, is_held)
	player:set_physics_override({
		speed = is_held and 0 or 1, jump = is_held and 0 or 1, gravity = is_held and 0 or 1, sneak = not is_held,
	})
	player:set_armor_groups(is_held and {immortal = 1} or {fleshy = 100})
	player:add_velocity(vector.multiply(player:get_velocity(), -1))
	is_sprinting = false
end

local function put(player, pose)
	player:set_pos({x = pose[1], y = pose[2], z = pose[3]})
	player:set_look_horizontal(pose[4])
	player:set_look_vertical(pose[5])
end

local verbs = {}

-- The middle of a square of dry ground near the middle of the map, if there is one in reach.
function verbs.site(request)
	return {middle = ground.site(request.side)}
end

function verbs.pieces(request)
	return {middles = ground.pieces(request.lowest, request.highest)}
end

function verbs.make(request, answer)
	ground.make(request.at, answer)
end

function verbs.load(request, answer)
	ground.load(request.lowest, request.highest, answer)
end

function verbs.scan(request)
	return {names = ground.scan(request.lowest, request.size, request.path)}
end

function verbs.begin(request)
	local player = agent()
	local num_restored = ground.restore()
	for _, object in pairs(minetest.object_refs) do
		if not object:is_player() then object:remove() end
	end
	for _, node in ipairs(request.nodes) do
		if not minetest.registered_nodes[node.name] then
			return {error = "there is no node " .. node.name}
		end
		local at = node.at
		minetest.swap_node({x = at[1], y = at[2], z = at[3]}, {name = node.name, param2 = node.param2})
	end
	local stacks = {}
	for slot, item in ipairs(request.inventory) do
		if item.name ~= "" and not minetest.registered_items[item.name] then
			return {error = "there is no item " .. item.name}
		end
		stacks[slot] = item.name == "" and "" or item.name .. " " .. item.count
	end
	player:get_inventory():set_list("main", stacks)
	player:set_hp(20, {type = "set_hp", from = "mod"})
	player:set_breath(11)
	player:set_fov(request.fov_deg, false, 0)
	minetest.set_timeofday(request.time)
	happenings.clear()
	hold(player, true)
	put(player, request.pose)
	return {num_restored = num_restored}
end

function verbs.hold(request)
	local player = agent()
	hold(player, true)
	put(player, request.pose)
	return {}
end

function verbs.free()
	hold(agent(), false)
	return {}
end

function verbs.lines(request)
	local clear = {}
	for index, line in ipairs(request.lines) do
		local from, to = vector.new(line[1], line[2], line[3]), vector.new(line[4], line[5], line[6])
		clear[index] = true
		for hit in minetest.raycast(from, to, false, false) do
			clear[index] = vector.equals(hit.under, to)
			break
		end
	end
	return {clear = clear}
end

function verbs.ack(request)
	happenings.forget(request.number)
end

local function is_on_ground(position, velocity)
	if math.abs(velocity.y) > 0.05 then return false end
	for _, x in ipairs({-0.29, 0.29}) do
		for _, z in ipairs({-0.29, 0.29}) do
			local below = minetest.get_node({x = position.x + x, y = position.y - 0.06, z = position.z + z})
			local node = minetest.registered_nodes[below.name]
			if node and node.walkable then return true end
		end
	end
	return false
end

local function stacks_of(player)
	local names, counts, last = {}, {}, 0
	for slot, stack in ipairs(player:get_inventory():get_list("main")) do
		names[slot], counts[slot] = stack:get_name(), stack:get_count()
		if counts[slot] > 0 then last = slot end
	end
	for slot = #names, last + 1, -1 do
		names[slot], counts[slot] = nil, nil
	end
	return names, counts
end

local function present()
	local player = agent()
	if not player then return {step = step_count, is_ready = false} end
	local position, velocity, keys = player:get_pos(), player:get_velocity(), player:get_player_control()
	local names, counts = stacks_of(player)
	return {
		step = step_count, is_ready = true,
		pose = {position.x, position.y, position.z, player:get_look_horizontal(), player:get_look_vertical()},
		speed = math.abs(velocity.x) + math.abs(velocity.y) + math.abs(velocity.z),
		is_on_ground = is_on_ground(position, velocity),
		is_odd = keys.zoom, health = happenings.is_dead() and 0 or player:get_hp(),
		items = names, counts = counts, selected = player:get_wield_index() - 1,
		events = happenings.list(),
	}
end

minetest.register_globalstep(function()
	step_count = step_count + 1
	for request in link.requests() do
		local function answer(result)
			result.id = request.id
			link.send({answer = result})
		end
		local verb = verbs[request.verb]
		local ok, result = pcall(verb or error, request, answer)
		if not ok then result = {error = tostring(result)} end
		if result then answer(result) end
	end
	local player = agent()
	if player then
		local wants = player:get_player_control().aux1
		if wants ~= is_sprinting then
			is_sprinting = wants
			player:set_physics_override({speed = wants and 1.3 or 1})
		end
	end
	link.send({present = present()})
end)
