// Usage: node write_world.js VERSION PORT FOLDER
//
// Lets flying-squid make a world of a Minecraft version in FOLDER/world, puts a few hundred random block states into it,
// and writes what a mineflayer client sees of it, over the protocol, to FOLDER/seen.json and FOLDER/seen.bin: int32 state
// ids [column][y][z][x], little endian.
'use strict'

const fs = require('fs')
const path = require('path')
const mineflayer = require('mineflayer')
const squid = require('flying-squid')
const { Vec3 } = require('vec3')

const LIMIT_MS = 90000
const NUM_PLACED = 400
// Over four columns at the least: the library that writes 1.18 and newer forgets the names of a section's states when it
// has more than 256 of them, and where the client spawns, so how columns cut this square, is drawn anew each time.
const PLACED_SIDE = 32
const MIN_COLUMNS = 9
// Blocks that the server changes by itself while client and file are compared.
const ACTIVE = /redstone|repeater|comparator|piston|observer|sand|gravel|powder|anvil|water|lava|fire|tnt/

const [version, portText, folder] = process.argv.slice(2)
const port = Number(portText)
setTimeout(() => fail(`${version}: not done within ${LIMIT_MS} ms`), LIMIT_MS)
process.on('unhandledRejection', error => fail(error.stack))

function fail (message) {
  console.error(message)
  process.exit(1)
}

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

// The numbers must be the same on every machine: a linear congruential generator.
let state = 1
function draw (count) {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
  return (state >>> 8) % count
}

const server = squid.createMCServer(Object.assign({}, require('flying-squid/config/default-settings.json'), {
  host: '127.0.0.1',
  port,
  version,
  'online-mode': false,
  logging: false,
  'view-distance': 2,
  generation: { name: 'diamond_square', options: { worldHeight: 80, seed: 7 } },
  worldFolder: path.join(folder, 'world')
}))
server.on('error', error => fail(`server: ${error.stack}`))
// On `listening` a client would be told that the server is still starting.
server.on('pluginsReady', () => {
  const bot = mineflayer.createBot({ host: '127.0.0.1', port, username: 'reader', version })
  bot.on('error', error => fail(`client: ${error.stack}`))
  bot.on('kicked', reason => fail(`client was kicked: ${reason}`))
  bot.once('spawn', () => look(bot))
})

async function look (bot) {
  while (bot.world.getColumns().length < MIN_COLUMNS) await sleep(50)
  const feet = bot.entity.position.floored()
  const blocks = bot.registry.blocksArray.filter(block => block.minStateId !== undefined && !ACTIVE.test(block.name))
  for (let index = 0; index < NUM_PLACED; index++) {
    const block = blocks[draw(blocks.length)]
    const id = block.minStateId + draw(block.maxStateId - block.minStateId + 1)
    const place = new Vec3(
      feet.x + draw(PLACED_SIDE) - PLACED_SIDE / 2, feet.y + 4 + draw(12), feet.z + draw(PLACED_SIDE) - PLACED_SIDE / 2)
    await server.setBlock(server.overworld, place, id)
  }
  await sleep(1000) // for the last changes to arrive
  write(bot)
  await save(server.overworld)
  process.exit(0)
}

// Its own saving in the background forgets what changes while it writes: 384 of the 400 blocks were lost.
async function save (world) {
  world.stopSaving()
  await world.finishedSaving
  for (const { chunkX, chunkZ, column } of world.getColumns()) {
    await world.storageProvider.save(Number(chunkX), Number(chunkZ), column)
  }
}

function write (bot) {
  const Block = require('prismarine-block')(bot.registry)
  const minY = bot.game.minY ?? 0
  const height = bot.game.height ?? 256
  const columns = bot.world.getColumns().map(({ chunkX, chunkZ, column }) => ({ x: Number(chunkX), z: Number(chunkZ), column }))
  const ids = new Int32Array(columns.length * height * 256)
  const names = {}
  let at = 0
  for (const { column } of columns) {
    for (let y = minY; y < minY + height; y++) {
      for (let z = 0; z < 16; z++) {
        for (let x = 0; x < 16; x++) {
          const id = column.getBlockStateId(new Vec3(x, y, z))
          ids[at++] = id
          if (!(id in names)) names[id] = nameOf(Block.fromStateId(id, 0))
        }
      }
    }
  }
  fs.writeFileSync(path.join(folder, 'seen.bin'), Buffer.from(ids.buffer))
  const seen = { version, min_y: minY, height, columns: columns.map(({ x, z }) => [x, z]), names }
  fs.writeFileSync(path.join(folder, 'seen.json'), JSON.stringify(seen))
}

function nameOf (block) {
  const inside = Object.entries(block.getProperties()).map(([key, value]) => `${key}=${value}`).sort().join(',')
  return `minecraft:${block.name}` + (inside ? `[${inside}]` : '')
}
