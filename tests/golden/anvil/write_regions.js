// Writes the region files of this folder with code that shares nothing with ours: prismarine-provider-anvil (MIT).
//
//   npm install prismarine-provider-anvil@2.13.0 prismarine-chunk prismarine-block prismarine-registry vec3
//   node write_regions.js OUT_FOLDER
//
// Each file is r.0.0.mca with chunks (0, 0) .. (1, 1). With v = y - low, low .. high the levels of RANGES, cell (x, y, z) is
// STATES[(7 x + 13 v + 29 z + (x z) % 5) % count]; tests/worlds/anvil/test_anvil.py has the same list and formula. Two sections of
// a chunk are half filled; more than 16 states make indices of 5 bits, which span longs in 1.13 and do not later.
const fs = require('fs')
const path = require('path')
const zlib = require('zlib')
const { Vec3 } = require('vec3')

const STATES = [
  ['air', {}], ['stone', {}], ['grass_block', { snowy: false }], ['grass_block', { snowy: true }], ['dirt', {}],
  ['oak_log', { axis: 'x' }], ['oak_log', { axis: 'y' }], ['oak_log', { axis: 'z' }], ['cobblestone', {}],
  ['oak_stairs', { facing: 'east', half: 'top', shape: 'straight', waterlogged: false }],
  ['oak_stairs', { facing: 'north', half: 'bottom', shape: 'outer_left', waterlogged: true }],
  ['stone_slab', { type: 'double', waterlogged: false }], ['stone_slab', { type: 'top', waterlogged: false }],
  ['oak_door', { facing: 'west', half: 'upper', hinge: 'right', open: true, powered: false }],
  ['oak_fence', { east: true, north: false, south: true, waterlogged: false, west: false }],
  ['furnace', { facing: 'south', lit: true }], ['snow', { layers: 3 }], ['gold_ore', {}], ['water', { level: 0 }],
  ['blue_wool', {}], ['dark_oak_stairs', { facing: 'south', half: 'bottom', shape: 'straight', waterlogged: false }]
]
const RANGES = { 1.13: [8, 24], '1.16.5': [8, 24], '1.18.2': [-8, 8], '1.21.4': [-8, 8] }

async function write (version, folder) {
  const registry = require('prismarine-registry')(version)
  const Block = require('prismarine-block')(registry)
  const Chunk = require('prismarine-chunk')(registry)
  const Anvil = require('prismarine-provider-anvil').Anvil(version)
  const ids = STATES.map(([name, properties]) => {
    const kind = registry.blocksByName[name]
    if (!Object.keys(properties).length) return kind.defaultState
    for (let id = kind.minStateId; id <= kind.maxStateId; id++) {
      const found = Block.fromStateId(id, 0).getProperties()
      if (Object.entries(properties).every(([key, value]) => String(found[key]) === String(value))) return id
    }
    throw new Error(`${version} has no ${name} ${JSON.stringify(properties)}`)
  })
  const anvil = new Anvil(folder)
  const [low, high] = RANGES[version]
  for (const cx of [0, 1]) {
    for (const cz of [0, 1]) {
      const chunk = new Chunk({ minY: -64, worldHeight: 384 })
      for (let x = 0; x < 16; x++) {
        for (let z = 0; z < 16; z++) {
          for (let y = low; y < high; y++) {
            const [bx, bz] = [cx * 16 + x, cz * 16 + z]
            const mix = 7 * bx + 13 * (y - low) + 29 * bz + (bx * bz) % 5
            chunk.setBlockStateId(new Vec3(x, y, z), ids[mix % ids.length])
          }
        }
      }
      await anvil.save(cx, cz, chunk)
    }
  }
  await anvil.close()
}

async function main (out) {
  for (const version of Object.keys(RANGES)) {
    const folder = fs.mkdtempSync(path.join(require('os').tmpdir(), 'region-'))
    await write(version, folder)
    const region = fs.readFileSync(path.join(folder, 'r.0.0.mca'))
    // Time stamps of the chunks are not read; without them the same input gives the same file.
    region.fill(0, 4096, 8192)
    fs.writeFileSync(path.join(out, `${version}.mca.gz`), zlib.gzipSync(region, { level: 9 }))
  }
}

main(process.argv[2])
