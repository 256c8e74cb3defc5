"""Where Minecraft's own pictures lie in a resource pack: today's names and those before version 1.13."""

# Our name -> today's file, where they differ.
_TODAY: dict[str, tuple[str, ...]] = {
    "cactus": ("cactus_side",),
    "crafting_table": ("crafting_table_front",),
    "furnace": ("furnace_front",),
    "grass": ("grass", "short_grass"),
    "grass_path_side": ("grass_path_side", "dirt_path_side"),
    "grass_path_top": ("grass_path_top", "dirt_path_top"),
    "hay_block": ("hay_block_side",),
    "jukebox": ("jukebox_side",),
    "lava": ("lava_still",),
    "melon": ("melon_side",),
    "pumpkin": ("pumpkin_side",),
    "quartz_block_side": ("quartz_block_side", "quartz_block"),
    "snow_block": ("snow",),
    "tnt": ("tnt_side",),
    "water": ("water_still",),
}

# Our name -> the file before 1.13, where no rule below gives it.
_BEFORE_1_13: dict[str, str] = {
    "andesite": "stone_andesite",
    "anvil": "anvil_base",
    "anvil_top": "anvil_top_damaged_0",
    "azure_bluet": "flower_houstonia",
    "baked_potato": "potato_baked",
    "beef": "beef_raw",
    "bone_meal": "dye_powder_white",
    "book": "book_normal",
    "bow": "bow_standby",
    "bricks": "brick",
    "brown_mushroom": "mushroom_brown",
    "brown_mushroom_block": "mushroom_block_skin_brown",
    "bucket": "bucket_empty",
    "carved_pumpkin": "pumpkin_face_off",
    "chicken": "chicken_raw",
    "cobweb": "web",
    "cod": "fish_cod_raw",
    "cooked_beef": "beef_cooked",
    "cooked_chicken": "chicken_cooked",
    "cooked_cod": "fish_cod_cooked",
    "cooked_mutton": "mutton_cooked",
    "cooked_porkchop": "porkchop_cooked",
    "cooked_rabbit": "rabbit_cooked",
    "cooked_salmon": "fish_salmon_cooked",
    "cracked_stone_bricks": "stonebrick_cracked",
    "dandelion": "flower_dandelion",
    "dead_bush": "deadbush",
    "diorite": "stone_diorite",
    "farmland": "farmland_dry",
    "furnace": "furnace_front_off",
    "golden_apple": "apple_golden",
    "granite": "stone_granite",
    "grass": "tallgrass",
    "grass_block_side": "grass_side",
    "grass_block_snow": "grass_side_snowed",
    "grass_block_top": "grass_top",
    "iron_bars": "iron_bars",
    "ink_sac": "dye_powder_black",
    "iron_door": "door_iron",
    "iron_door_bottom": "door_iron_lower",
    "iron_door_top": "door_iron_upper",
    "jack_o_lantern": "pumpkin_face_on",
    "lapis_lazuli": "dye_powder_blue",
    "lava_bucket": "bucket_lava",
    "lily_pad": "waterlily",
    "melon": "melon_side",
    "melon_slice": "melon",
    "milk_bucket": "bucket_milk",
    "mossy_cobblestone": "cobblestone_mossy",
    "mossy_stone_bricks": "stonebrick_mossy",
    "mushroom_stem": "mushroom_block_skin_stem",
    "mutton": "mutton_raw",
    "nether_bricks": "nether_brick",
    "nether_portal": "portal",
    "note_block": "noteblock",
    "oak_door": "door_wood",
    "oak_door_bottom": "door_wood_lower",
    "oak_door_top": "door_wood_upper",
    "oak_trapdoor": "trapdoor",
    "packed_ice": "ice_packed",
    "podzol_side": "dirt_podzol_side",
    "podzol_top": "dirt_podzol_top",
    "polished_andesite": "stone_andesite_smooth",
    "polished_diorite": "stone_diorite_smooth",
    "polished_granite": "stone_granite_smooth",
    "poppy": "flower_rose",
    "porkchop": "porkchop_raw",
    "prismarine": "prismarine_rough",
    "rabbit": "rabbit_raw",
    "rail": "rail_normal",
    "red_mushroom": "mushroom_red",
    "red_mushroom_block": "mushroom_block_skin_red",
    "red_sandstone": "red_sandstone_normal",
    "redstone": "redstone_dust",
    "redstone_lamp": "redstone_lamp_off",
    "rose_bush_bottom": "double_plant_rose_bottom",
    "rose_bush_top": "double_plant_rose_top",
    "salmon": "fish_salmon_raw",
    "sandstone": "sandstone_normal",
    "slime_ball": "slimeball",
    "slime_block": "slime",
    "smooth_stone": "stone_slab_top",
    "spawner": "mob_spawner",
    "stone_bricks": "stonebrick",
    "sugar_cane": "reeds",
    "sunflower_bottom": "double_plant_sunflower_bottom",
    "sunflower_top": "double_plant_sunflower_top",
    "tall_grass_bottom": "double_plant_grass_bottom",
    "tall_grass_top": "double_plant_grass_top",
    "terracotta": "hardened_clay",
    "torch": "torch_on",
    "water_bucket": "bucket_water",
    "wheat_seeds": "seeds_wheat",
    "large_fern_bottom": "double_plant_fern_bottom",
    "large_fern_top": "double_plant_fern_top",
    "lilac_bottom": "double_plant_syringa_bottom",
    "lilac_top": "double_plant_syringa_top",
    "sunflower_front": "double_plant_sunflower_front",
}
_OLD_SPECIES = {"dark_oak": "big_oak"}
_SPECIES = ("dark_oak", "spruce", "birch", "jungle", "acacia", "oak")
_FLOWERS = ("allium", "blue_orchid", "oxeye_daisy")
_OLD_MATERIALS = {"wooden": "wood", "golden": "gold"}
_OLD_DYED = {
    "wool": "wool_colored_",
    "concrete": "concrete_",
    "terracotta": "hardened_clay_stained_",
    "stained_glass": "glass_",
}

# Items where a block's picture bears the same name: a lantern's has another layout, brick.png was that of bricks.
_ITEMS_ONLY = frozenset({"brick", "lantern"})


def picture_paths(name: str) -> list[str]:
    """Return where a pack may keep the picture of our texture `name`, below its textures folder, best first."""
    is_block = name not in _ITEMS_ONLY
    today_names = _TODAY.get(name, (name,))
    today = [f"{folder}/{file}.png" for file in today_names for folder in ("block", "item")[1 - is_block :]]
    old_names = dict.fromkeys((_old_name(name), *today_names))
    return today + [f"{folder}/{old}.png" for old in old_names for folder in ("blocks", "items")[1 - is_block :]]


def _old_name(name: str) -> str:
    if name in _BEFORE_1_13:
        return _BEFORE_1_13[name]
    for species in _SPECIES:
        part = name.removeprefix(f"{species}_")
        if part == name:
            continue
        old = _OLD_SPECIES.get(species, species)
        halves = {"door_bottom": f"door_{species}_lower", "door_top": f"door_{species}_upper"}
        whole = {
            "log_top": f"log_{old}_top",
            "sapling": f"sapling_{'roofed_oak' if species == 'dark_oak' else species}",
        }
        return (halves | whole).get(part, f"{part}_{old}")
    for cloth, prefix in _OLD_DYED.items():
        if name.endswith(f"_{cloth}"):
            return prefix + name.removesuffix(f"_{cloth}").replace("light_gray", "silver")
    if name.endswith("_tulip"):
        return f"flower_tulip_{name.removesuffix('_tulip')}"
    if name in _FLOWERS:
        return f"flower_{name}"
    if name.startswith("wheat_stage"):
        return name.replace("stage", "stage_")
    material, _, tool = name.partition("_")
    if material in _OLD_MATERIALS and tool:
        return f"{_OLD_MATERIALS[material]}_{tool}"
    return name
