-- Blocks of Minecraft that minetest_game lacks and tasks are about, drawn from its own textures.
local function register(name, description, tiles, groups, sounds)
	minetest.register_node("mcrl:" .. name, {
		description = description, tiles = tiles, groups = groups, sounds = sounds, is_ground_content = false,
		paramtype2 = "facedir",
	})
end

local metal, wood = default.node_sound_metal_defaults(), default.node_sound_wood_defaults()
register("redstone_block", "Redstone Block", {"default_steel_block.png^[colorize:#b01505:210"}, {cracky = 3}, metal)
register("emerald_block", "Emerald Block", {"default_diamond_block.png^[colorize:#17c544:190"}, {cracky = 2}, metal)
register("lapis_block", "Lapis Block", {"default_steel_block.png^[colorize:#1b3f9c:215"}, {cracky = 2}, metal)
register("pumpkin", "Pumpkin", {
	"default_pine_wood.png^[transformR90^[colorize:#a85a08:200", "default_pine_wood.png^[colorize:#a85a08:200",
	"default_coral_orange.png^[colorize:#d97f16:150",
}, {choppy = 3, oddly_breakable_by_hand = 2}, wood)
register("crafting_table", "Crafting Table", {
	"default_wood.png^carts_rail_crossing.png", "default_wood.png", "default_wood.png^default_tool_stoneaxe.png",
}, {choppy = 3, oddly_breakable_by_hand = 2}, wood)
