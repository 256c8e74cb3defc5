// Writes break_times.json beside it: hardness, mining speeds, harvest rules and drops of Java Edition 1.16.5, from the npm
// package minecraft-data (MIT), as numbers that are independent of worlds/blocks. Run:
//   npm install --prefix /tmp/minecraft_data minecraft-data@3.117.0
//   .venv/bin/python -c "from worlds.blocks import BLOCKS; print(*(kind.name for kind in BLOCKS))" \
//     | NODE_PATH=/tmp/minecraft_data/node_modules node tests/golden/make_break_times.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_PATH}/`);
const game = require("minecraft-data")("1.16.5");

// Where the package's table of 1.16.5 has no material or a wrong one (cactus and soils "plant", wooden slabs of stone,
// stone stairs harvested by hand), its table of 1.17.1 has the tools that the classes of 1.16.5 name already.
const later = require("minecraft-data")("1.17.1");
const FROM_LATER = [
  "coarse_dirt", "podzol", "cactus", "sponge", "hay_block", "blue_ice", "ladder", "magma_block", "bone_block", "stone_stairs",
  ...["oak", "spruce", "birch"].map((wood) => `${wood}_slab`),
  ...["oak", "spruce", "birch", "jungle", "acacia", "dark_oak"].map((wood) => `${wood}_leaves`),
];
const OF_LATER = {
  "mineable/shovel": "dirt", "mineable/pickaxe": "rock", "mineable/axe": "wood", "mineable/hoe": "hoe",
  "leaves;mineable/hoe": "leaves", default: null,
};
const UNBREAKABLE = ["bedrock", "barrier", "nether_portal", "air", "water", "lava"];
// Hoes are missing in the materials of 1.16.5, and shears are rounded there: 15 on leaves, 5 on wool.
const MATERIALS = structuredClone(game.materials);
const itemId = (name) => game.itemsByName[name].id;
const tools = ["wooden", "stone", "iron", "golden", "diamond", "netherite"].flatMap((material) =>
  ["pickaxe", "axe", "shovel", "hoe", "sword"].map((tool) => `${material}_${tool}`));
tools.push("shears");
const speedOf = { wooden: 2, stone: 4, iron: 6, golden: 12, diamond: 8, netherite: 9 };
const hoes = Object.fromEntries(tools.filter((n) => n.endsWith("_hoe")).map((n) => [itemId(n), speedOf[n.split("_")[0]]]));
MATERIALS.hoe = hoes;
MATERIALS.leaves = { ...MATERIALS.leaves, ...hoes, [itemId("shears")]: 15 };
MATERIALS.wool = { [itemId("shears")]: 5 };

const materials = Object.fromEntries(Object.entries(MATERIALS).map(([material, speeds]) => [material,
  Object.fromEntries(tools.filter((n) => speeds[itemId(n)]).map((n) => [n, speeds[itemId(n)]]))]));
const loot = Object.fromEntries(game.blockLootArray.map((row) => [row.block, row.drops]));
const harvestOf = (name) => {
  const source = FROM_LATER.includes(name) ? later : game;
  const able = source.blocksByName[name].harvestTools;
  return able ? tools.filter((tool) => able[source.itemsByName[tool].id]) : null;
};
const blocks = {};
for (const name of readFileSync(0, "utf8").trim().split(/\s+/)) {
  const inGame = name === "snowy_grass_block" ? "grass_block" : name;
  const block = game.blocksByName[inGame];
  if (!block) continue; // of our own, see tests/worlds/blocks/own_kinds.py
  const harvest = harvestOf(inGame);
  blocks[name] = {
    hardness: UNBREAKABLE.includes(inGame) ? -1 : block.hardness,
    material: FROM_LATER.includes(inGame) ? OF_LATER[later.blocksByName[inGame].material] : (block.material ?? null),
    harvest: harvest && harvest.join(" "),
    drops: [...new Set((loot[inGame] ?? []).filter((drop) => !drop.silkTouch).map((drop) => drop.item))],
  };
}
const used = new Set(Object.values(blocks).map((block) => block.material));
const kept = Object.fromEntries(Object.entries(materials).filter(([material]) => used.has(material)));
const harvests = [...new Set(Object.values(blocks).map((block) => block.harvest))];
for (const block of Object.values(blocks)) block.harvest = harvests.indexOf(block.harvest);
const lines = Object.entries(blocks).map(([name, block]) => `  ${JSON.stringify(name)}: ${JSON.stringify(block)}`);
const head = `"materials": ${JSON.stringify(kept)},\n"harvests": ${JSON.stringify(harvests.map((s) => s && s.split(" ")))}`;
writeFileSync(new URL("break_times.json", import.meta.url), `{${head},\n"blocks": {\n${lines.join(",\n")}\n}}\n`);
