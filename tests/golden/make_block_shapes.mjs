// Writes block_shapes.json beside it: the collision boxes of Java Edition 1.16.5 for every state of worlds/blocks, from the
// npm package minecraft-data (MIT). Run:
//   npm install --prefix /tmp/minecraft_data minecraft-data@3.117.0
//   .venv/bin/python -c "import json; from worlds.blocks import BLOCKS
//   print(json.dumps({kind.name: [name for name, _ in kind.properties] for kind in BLOCKS}))" \
//     | NODE_PATH=/tmp/minecraft_data/node_modules node tests/golden/make_block_shapes.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_PATH}/`);
const game = require("minecraft-data")("1.16.5");
const { blocks: shapesOf, shapes } = game.blockCollisionShapes;
// Of properties that worlds/blocks does not have, the state with these values stands for all.
const PLAIN = {
  waterlogged: ["false"], shape: ["straight", "north_south"], type: ["single"], hanging: ["false"], bites: ["0"],
  in_wall: ["false"],
};
const LINKS = ["north", "east", "south", "west"];

function* statesOf(block) {
  const count = block.maxStateId - block.minStateId + 1;
  for (let index = 0; index < count; index += 1) {
    const values = {};
    let rest = index;
    for (const property of [...block.states].reverse()) {
      const numbers = Array.from({ length: property.num_values }, (_, value) => String(value));
      const names = property.values ?? (property.type === "bool" ? ["true", "false"] : numbers);
      values[property.name] = names[rest % property.num_values];
      rest = Math.floor(rest / property.num_values);
    }
    yield [index, values];
  }
}

const result = {};
for (const [name, properties] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  const block = game.blocksByName[name === "snowy_grass_block" ? "grass_block" : name];
  if (!block) continue; // of our own, see tests/worlds/blocks/own_kinds.py
  const shape = shapesOf[block.name];
  const byState = {};
  for (const [index, values] of statesOf(block)) {
    const isPlain = Object.entries(PLAIN).every(
      ([key, allowed]) => properties.includes(key) || !(key in values) || allowed.includes(values[key]));
    if (!isPlain) continue;
    const links = LINKS.reduce((sum, side, bit) => sum + (values[side] === "true" ? 1 << bit : 0), 0);
    const key = properties.map((property) => `${property}=${property === "links" ? links : values[property]}`).join(",");
    byState[key] ??= shapes[String(Array.isArray(shape) ? shape[index] : shape)];
  }
  const distinct = new Set(Object.values(byState).map((boxes) => JSON.stringify(boxes)));
  result[name] = distinct.size === 1 ? { "": Object.values(byState)[0] } : byState;
}
const lines = Object.entries(result).map(([name, states]) => `${JSON.stringify(name)}: ${JSON.stringify(states)}`);
writeFileSync(new URL("block_shapes.json", import.meta.url), `{\n${lines.join(",\n")}\n}\n`);
