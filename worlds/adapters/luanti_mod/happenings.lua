-- What the agent did and suffered, numbered, kept until the other side has acknowledged it.
local happenings = {}
local events, number, is_dead = {}, 0, false
local CAUSES = {fall = "fall", drown = "drowning", node_damage = "block", punch = "mob"}

local function note(name, subject, amount, position)
	number = number + 1
	events[#events + 1] = {
		number = number, name = name, subject = subject, amount = amount,
		cell = position and {position.x, position.y, position.z},
	}
end

function happenings.list()
	return events
end

function happenings.forget(last)
	while events[1] and events[1].number <= last do
		table.remove(events, 1)
	end
end

function happenings.clear()
	events, is_dead = {}, false
end

function happenings.is_dead()
	return is_dead
end

local function is_agent(object)
	return object and object:is_player()
end

-- Mods may call these with a node that has a name alone, as that of a sapling does.
local function state_of(node)
	return node.name .. " " .. (node.param2 or 0)
end

minetest.register_on_dignode(function(position, node, digger)
	if is_agent(digger) then note("block_broken", state_of(node), 0, position) end
end)

minetest.register_on_placenode(function(position, node, placer)
	if is_agent(placer) then note("block_placed", state_of(node), 0, position) end
end)

-- Death is told and not carried out: its screen would take the keys, and the episode is over anyway.
minetest.register_on_player_hpchange(function(player, change, reason)
	if reason.type == "set_hp" or change >= 0 then return change end
	local cause = CAUSES[reason.type] or "block"
	note("damage", cause, -change)
	if player:get_hp() + change <= 0 then
		if not is_dead then note("death", cause, 0) end
		is_dead = true
		return 1 - player:get_hp()
	end
	return change
end, true)

-- A click on a node that answers to clicks is a use, told with the state before; nothing may open a window.
minetest.register_on_mods_loaded(function()
	for name, node in pairs(minetest.registered_nodes) do
		local on_rightclick = node.on_rightclick
		if on_rightclick then
			local has_window = name:find("chest") or name:find("furnace") or name:find("bookshelf") or name:find("vessels")
			minetest.override_item(name, {
				on_rightclick = function(position, clicked, clicker, stack, pointed)
					if is_agent(clicker) then note("block_used", state_of(clicked), 0, position) end
					if not has_window then return on_rightclick(position, clicked, clicker, stack, pointed) end
					return stack
				end,
			})
		end
	end
end)

return happenings
