"""What stands in for the blocks that the engine does not have: explicit tables, read by worlds.anvil.mapping.

A line is "what is in the save = what stands for it": the first name on the right that the engine has is taken.
"""

import re


def _table(text: str) -> dict[str, tuple[str, ...]]:
    """Read lines "a b c = x y": each of a, b, c has the candidates x, then y."""
    table: dict[str, tuple[str, ...]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        sources, _, candidates = line.partition(" = ")
        table.update(dict.fromkeys(sources.split(), tuple(candidates.split())))
    return table


# Single blocks.
KINDS = _table(
    """
    cave_air void_air light structure_void moving_piston = air
    flowing_water bubble_column = water
    kelp kelp_plant tall_seagrass = seagrass water
    frogspawn = lily_pad air
    flowing_lava = lava
    short_grass bush firefly_bush short_dry_grass = grass fern
    tall_dry_grass = grass dead_bush
    dirt_path = grass_path farmland
    frosted_ice = ice
    powder_snow = snow_block
    fire soul_fire = torch air
    light_weighted_pressure_plate heavy_weighted_pressure_plate = stone_pressure_plate
    polished_blackstone_pressure_plate = stone_pressure_plate
    polished_blackstone_button = stone_button

    deepslate cobbled_deepslate polished_deepslate reinforced_deepslate infested_deepslate = stone
    chiseled_deepslate deepslate_bricks deepslate_tiles = stone_bricks
    cracked_deepslate_bricks cracked_deepslate_tiles = cracked_stone_bricks
    tuff polished_tuff chiseled_tuff = andesite
    tuff_bricks chiseled_tuff_bricks chiseled_stone_bricks = stone_bricks
    calcite dripstone_block = diorite granite
    basalt smooth_basalt polished_basalt = black_terracotta coal_block stone
    blackstone polished_blackstone gilded_blackstone = black_terracotta coal_block stone
    chiseled_polished_blackstone polished_blackstone_bricks cracked_polished_blackstone_bricks = nether_bricks
    chiseled_nether_bricks cracked_nether_bricks red_nether_bricks = nether_bricks
    end_stone_bricks purpur_block purpur_pillar = end_stone
    prismarine_bricks dark_prismarine = prismarine
    smooth_sandstone cut_sandstone chiseled_sandstone = sandstone
    smooth_red_sandstone cut_red_sandstone chiseled_red_sandstone = red_sandstone sandstone
    smooth_quartz chiseled_quartz_block quartz_pillar quartz_bricks = quartz_block
    mud_bricks resin_bricks chiseled_resin_bricks = bricks
    mud packed_mud muddy_mangrove_roots rooted_dirt = dirt
    soul_soil = soul_sand
    moss_block pale_moss_block = green_wool grass_block
    suspicious_sand = sand
    suspicious_gravel = gravel
    crimson_nylium warped_nylium = netherrack
    nether_wart_block warped_wart_block = red_wool
    crying_obsidian respawn_anchor ancient_debris netherite_block = obsidian
    lodestone = smooth_stone
    copper_ore = iron_ore
    nether_quartz_ore = diorite
    emerald_ore = emerald_ore diamond_ore
    raw_iron_block = iron_block
    raw_gold_block honeycomb_block = gold_block
    raw_copper_block copper_block cut_copper chiseled_copper copper_grate copper_bulb = orange_terracotta bricks
    amethyst_block budding_amethyst = purple_wool magenta_wool
    sculk sculk_catalyst sculk_shrieker sculk_sensor calibrated_sculk_sensor = black_wool
    resin_block shroomlight ochre_froglight verdant_froglight pearlescent_froglight = glowstone
    wet_sponge = sponge
    honey_block = slime_block
    dried_kelp_block target = hay_block
    mangrove_roots = oak_leaves
    creaking_heart = oak_log
    bamboo_block = oak_log
    bamboo_mosaic = birch_planks oak_planks
    snow_layer = snow

    candle_cake = cake
    trapped_chest ender_chest copper_chest = chest
    shulker_box decorated_pot = chest barrel
    chipped_anvil damaged_anvil grindstone = anvil
    water_cauldron lava_cauldron powder_snow_cauldron hopper composter = cauldron
    dispenser dropper observer crafter piston sticky_piston piston_head = furnace
    loom cartography_table fletching_table smithing_table jigsaw = crafting_table
    lectern beehive bee_nest chiseled_bookshelf = bookshelf
    stonecutter brewing_stand conduit bell campfire soul_campfire = lantern
    beacon end_gateway = sea_lantern
    command_block repeating_command_block chain_command_block = note_block
    structure_block test_block test_instance_block = note_block
    trial_spawner vault heavy_core = spawner
    end_portal_frame = enchanting_table end_stone
    end_portal = obsidian
    dragon_egg dried_ghast sniffer_egg = obsidian
    lightning_rod end_rod = torch
    redstone_torch soul_torch copper_torch = torch
    redstone_wall_torch soul_wall_torch copper_wall_torch = wall_torch
    soul_lantern copper_lantern = lantern
    iron_chain chain copper_chain = air
    copper_bars = iron_bars
    scaffolding = ladder
    powered_rail detector_rail activator_rail = rail
    iron_trapdoor copper_trapdoor = spruce_trapdoor oak_trapdoor
    copper_door = iron_door
    tinted_glass = black_stained_glass glass
    daylight_detector = stone_slab
    repeater comparator redstone_wire tripwire tripwire_hook = air
    copper_golem_statue = air

    peony = lilac rose_bush
    orange_tulip pink_tulip torchflower torchflower_crop wither_rose open_eyeblossom closed_eyeblossom = red_tulip poppy
    white_tulip = oxeye_daisy
    pitcher_plant pitcher_crop = blue_orchid
    spore_blossom cactus_flower = allium
    azalea flowering_azalea = oak_leaves
    carrots potatoes beetroots nether_wart melon_stem pumpkin_stem = wheat
    attached_melon_stem attached_pumpkin_stem = wheat
    crimson_fungus = red_mushroom
    warped_fungus = brown_mushroom
    crimson_roots warped_roots nether_sprouts small_dripleaf big_dripleaf_stem hanging_roots = fern grass
    big_dripleaf = lily_pad
    glow_lichen sculk_vein cave_vines cave_vines_plant weeping_vines weeping_vines_plant = vine
    twisting_vines twisting_vines_plant pale_hanging_moss = vine
    bamboo bamboo_sapling chorus_plant chorus_flower cocoa pointed_dripstone = sugar_cane
    moss_carpet = green_carpet
    pale_moss_carpet leaf_litter pink_petals wildflowers resin_clump = air
    jungle_sapling dark_oak_sapling mangrove_propagule = oak_sapling
    acacia_sapling cherry_sapling pale_oak_sapling = birch_sapling
    azalea_leaves flowering_azalea_leaves = oak_leaves
    amethyst_cluster large_amethyst_bud medium_amethyst_bud small_amethyst_bud = air
    sea_pickle turtle_egg flower_pot = air
    """
)

# Woods: of planks, logs and leaves, slabs, stairs, fences, doors ...
WOODS = _table(
    """
    spruce birch jungle = oak
    acacia = jungle oak
    dark_oak = spruce oak
    petrified_oak = oak
    cherry bamboo pale_oak bamboo_mosaic = birch oak
    mangrove crimson = acacia oak
    warped = spruce oak
    """
)

# Stones: of slabs and stairs.
STONES = _table(
    """
    smooth_stone andesite polished_andesite tuff polished_tuff calcite = stone
    diorite polished_diorite quartz smooth_quartz = stone
    mossy_cobblestone cobbled_deepslate blackstone = cobblestone
    mossy_stone_brick deepslate_brick deepslate_tile polished_deepslate tuff_brick = stone_brick
    polished_blackstone polished_blackstone_brick prismarine prismarine_brick dark_prismarine = stone_brick
    smooth_sandstone cut_sandstone red_sandstone cut_red_sandstone smooth_red_sandstone = sandstone
    end_stone_brick = sandstone
    granite polished_granite nether_brick red_nether_brick purpur mud_brick resin_brick cut_copper = brick
    """
)

# What a wall becomes: a fence keeps its shape and its height of 1.5 blocks.
WALLS = _table(
    """
    sandstone diorite end_stone_brick = birch_fence oak_fence
    brick granite red_sandstone mud_brick resin_brick = spruce_fence oak_fence
    """
)
OTHER_WALL = ("nether_brick_fence", "oak_fence", "cobblestone")

COLORS = _table(
    """
    orange = yellow red
    magenta pink = red
    light_blue cyan = blue
    lime = green yellow
    gray = black
    light_gray = white
    purple = blue red
    brown = black red
    blue green = black
    white red yellow black = white
    """
)
LAST_COLOR = "white"
COLORED_MAKES = ("wool", "carpet", "bed", "stained_glass", "concrete", "terracotta")
# Other coloured blocks, and what make stands for theirs.
COLORED = {
    "stained_glass_pane": ("glass_pane",),
    "concrete_powder": ("concrete",),
    "glazed_terracotta": ("terracotta",),
    "shulker_box": ("chest",),
    "candle_cake": ("cake",),
    "candle": ("air",),
    "banner": ("air",),
    "wall_banner": ("air",),
}

# Shapes that a material stands before; the longer first.
WOODEN_SHAPES = (
    "fence_gate", "pressure_plate", "trapdoor", "sapling", "button", "planks", "leaves", "stairs", "fence", "slab",
    "door", "log",
)  # fmt: skip
STONE_SHAPES = ("stairs", "slab")

# Names of the same thing, and prefixes that make no difference here.
RENAMES = (
    (re.compile(r"^(.*)_(wood|hyphae|stem)$"), r"\1_log"),
    (re.compile(r"^deepslate_(.*_ore)$"), r"\1"),
    (re.compile(r"^nether_(.*_ore)$"), r"\1"),
    (re.compile(r"^(exposed|weathered|oxidized)_copper$"), "copper_block"),
    (re.compile(r"^(?:exposed_|weathered_|oxidized_)(.*)$"), r"\1"),
    (re.compile(r"^infested_(.*)$"), r"\1"),
    (re.compile(r"^stripped_(.*)$"), r"\1"),
    (re.compile(r"^waxed_(.*)$"), r"\1"),
)

# By pattern, last of all.
PATTERNS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern), tuple(candidates.split()))
    for pattern, candidates in (
        (r"^potted_|_(sign|head|skull|fan)$|^sign$|_banner$|^candle", "air"),
        (r"^dead_.*_coral_block$", "stone"),
        (r"_coral_block$", "magenta_wool"),
        (r"_coral$", "air"),
        (r"_shelf$", "bookshelf"),
        (r"_ore$", "iron_ore"),
        (r"_leaves$", "oak_leaves"),
        (r"_(log|wood|stem)$", "oak_log"),
        (r"_planks$", "oak_planks"),
        (r"_slab$", "stone_slab"),
        (r"_stairs$", "stone_stairs stone_brick_stairs"),
        (r"_fence$", "oak_fence"),
        (r"_fence_gate$", "oak_fence_gate"),
        (r"_door$", "oak_door"),
        (r"_trapdoor$", "oak_trapdoor"),
        (r"_pane$", "glass_pane"),
        (r"glass$", "glass"),
        (r"_wool$", "white_wool"),
        (r"_carpet$", "white_carpet"),
        (r"_bed$", "red_bed"),
        (r"_bricks?$", "stone_bricks"),
        (r"chest$", "chest"),
        (r"lantern$|_lamp$", "lantern"),
        (r"torch$", "torch"),
        (r"_(sapling|flower|bush|grass|roots|sprout|sprouts|crop|plant|fern|lily|tulip)$", "fern grass"),
        (r"_(button|lever|wire|rod|pipe|cable|rail|pot|plate|carpet|candle|vines?|petals|litter)$", "air"),
    )
)
# The engine has no such block and no rule knows it: a full block, since most blocks are.
UNKNOWN = "stone"
