// Writes trajectories.json: where the npm package prismarine-physics (MIT) says that a player of Minecraft 1.16.5 is
// after each of 100 ticks of 50 scripts of keys over the worlds of terrains.json. In a folder outside of the project:
//   npm install prismarine-physics@1.11.1 prismarine-block prismarine-registry vec3
//   node .../tests/golden/physics/make_trajectories.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(path.join(process.cwd(), 'here.js'))
const folder = path.dirname(fileURLToPath(import.meta.url))
const { Vec3 } = require('vec3')
const registry = require('prismarine-registry')('1.16.5')
const Block = require('prismarine-block')(registry)
const SIZE = 32
const NUM_TICKS = 100
const [outFile = 'trajectories.json', numTimes = 1] = process.argv.slice(2) // other names and more scripts: a fuzz run
const SIDES = ['north', 'east', 'south', 'west']
const KEYS = ['forward', 'back', 'left', 'right', 'jump', 'sneak', 'sprint']

// Where the package departs from 1.16.5: [why, text, text as the game has it]. Both answers are kept: see main.
const CORRECTIONS = [
  ['fluids: the box of 1.13 and later, the height of the surface, and no currents: all our fluids are still',
    `    entity.isInWater = isInWaterApplyCurrent(world, waterBB, vel)
    entity.isInLava = isMaterialInBB(world, lavaBB, lavaIds)`,
    `    entity.isInWater = fluidHeight(world, getPlayerBB(pos).contract(0.001, 0.001, 0.001), waterIds) > 0
    entity.lavaHeight = fluidHeight(world, getPlayerBB(pos).contract(0.001, 0.001, 0.001), lavaIds)
    entity.isInLava = entity.lavaHeight > 0`],
  ['fluids: that height, as in Entity.updateFluidHeightAndDoFluidPushing',
    '  function getLiquidHeightPcent (block) {',
    `  function fluidHeight (world, bb, types) {
    let height = 0
    const cursor = new Vec3(0, 0, 0)
    for (cursor.y = Math.floor(bb.minY); cursor.y < Math.ceil(bb.maxY); cursor.y++) {
      for (cursor.z = Math.floor(bb.minZ); cursor.z < Math.ceil(bb.maxZ); cursor.z++) {
        for (cursor.x = Math.floor(bb.minX); cursor.x < Math.ceil(bb.maxX); cursor.x++) {
          if (!types.includes(world.getBlock(cursor).type)) continue
          const isCovered = types.includes(world.getBlock(cursor.offset(0, 1, 0)).type)
          height = Math.max(height, cursor.y + (isCovered ? 1 : 8 / 9) - bb.minY)
        }
      }
    }
    return height
  }

  function getLiquidHeightPcent (block) {`],
  ['fluids: lava up to 0.4 blocks drags less downwards (LivingEntity.travel)',
    '      vel.y *= inertia\n',
    `      if (!entity.isInWater && entity.lavaHeight <= 0.4) vel.y = vel.y * 0.8 - 0.005
      else vel.y *= inertia\n`],
  ['fluids: the body hops out only where no fluid at all is (Level.containsAnyLiquid)',
    'getWaterInBB(world, pBB).length === 0',
    '!isMaterialInBB(world, pBB, [...waterIds, ...lavaIds])'],
  ['blocks underfoot: soul sand slows who stands in it or 0.5000001 above it (Entity.getBlockSpeedFactor)',
    '      const blockBelow = world.getBlock(entity.pos.floored().offset(0, -0.5, 0))\n      if (blockBelow) {\n',
    `      const atFeet = world.getBlock(entity.pos)
      const blockBelow = atFeet.type === soulsandId ? atFeet : world.getBlock(entity.pos.offset(0, -0.5000001, 0))
      if (blockBelow) {\n`],
  ['blocks underfoot: slime slows who walks on it (SlimeBlock.stepOn)',
    '    // Finally, apply block collisions (web, soulsand...)\n',
    `    if (entity.onGround && blockAtFeet.type === slimeBlockId && !entity.control.sneak && Math.abs(vel.y) < 0.1) {
      const factor = 0.4 + Math.abs(vel.y) * 0.2
      vel.x *= factor
      vel.z *= factor
    }
`],
  ['corners: the longer of the moves along x and z is made first (Entity.collideBoundingBox)',
    `    for (const blockBB of surroundingBBs) {
      dx = blockBB.computeOffsetX(playerBB, dx)
    }
    playerBB.offset(dx, 0, 0)
`,
    `    const isZFirst = Math.abs(dx) < Math.abs(dz)
    if (isZFirst) {
      for (const blockBB of surroundingBBs) dz = blockBB.computeOffsetZ(playerBB, dz)
      playerBB.offset(0, 0, dz)
    }
    for (const blockBB of surroundingBBs) dx = blockBB.computeOffsetX(playerBB, dx)
    playerBB.offset(dx, 0, 0)
`],
  ['corners: the same, second half',
    `    for (const blockBB of surroundingBBs) {
      dz = blockBB.computeOffsetZ(playerBB, dz)
    }
    playerBB.offset(0, 0, dz)
`,
    `    if (!isZFirst) {
      for (const blockBB of surroundingBBs) dz = blockBB.computeOffsetZ(playerBB, dz)
      playerBB.offset(0, 0, dz)
    }
`],
  ['corners: the same where a step up is tried, first half',
    `      for (const blockBB of surroundingBBs) {
        dx1 = blockBB.computeOffsetX(BB1, dx1)
        dx2 = blockBB.computeOffsetX(BB2, dx2)
      }
      BB1.offset(dx1, 0, 0)
      BB2.offset(dx2, 0, 0)

      let dz1 = oldVelZ
      let dz2 = oldVelZ
`,
    `      let dz1 = oldVelZ
      let dz2 = oldVelZ
      const stepsZFirst = Math.abs(oldVelX) < Math.abs(oldVelZ)
      if (stepsZFirst) {
        for (const blockBB of surroundingBBs) {
          dz1 = blockBB.computeOffsetZ(BB1, dz1)
          dz2 = blockBB.computeOffsetZ(BB2, dz2)
        }
        BB1.offset(0, 0, dz1)
        BB2.offset(0, 0, dz2)
      }
      for (const blockBB of surroundingBBs) {
        dx1 = blockBB.computeOffsetX(BB1, dx1)
        dx2 = blockBB.computeOffsetX(BB2, dx2)
      }
      BB1.offset(dx1, 0, 0)
      BB2.offset(dx2, 0, 0)

`],
  ['corners: the same where a step up is tried, second half',
    `      for (const blockBB of surroundingBBs) {
        dz1 = blockBB.computeOffsetZ(BB1, dz1)
        dz2 = blockBB.computeOffsetZ(BB2, dz2)
      }
      BB1.offset(0, 0, dz1)
      BB2.offset(0, 0, dz2)

      const norm1`,
    `      if (!stepsZFirst) {
        for (const blockBB of surroundingBBs) {
          dz1 = blockBB.computeOffsetZ(BB1, dz1)
          dz2 = blockBB.computeOffsetZ(BB2, dz2)
        }
        BB1.offset(0, 0, dz1)
        BB2.offset(0, 0, dz2)
      }

      const norm1`],
  ['steps: the way up is tried over the whole width of the wanted move (Entity.collide)',
    'const BB_XZ = BB1.clone().extend(dx, 0, dz)',
    'const BB_XZ = BB1.clone().extend(oldVelX, 0, oldVelZ)\n      let rise = 0'],
  ['steps: then the body goes down by the rise and up or down by the wanted move, first half',
    '        dy = -dy1\n', '        dy = oldVelY - dy1\n        rise = dy1\n'],
  ['steps: the same, second half', '        dy = -dy2\n', '        dy = oldVelY - dy2\n        rise = dy2\n'],
  ['steps: the whole of it tells whether the body has landed',
    '      playerBB.offset(0, dy, 0)\n\n      if (oldVelXCol',
    '      playerBB.offset(0, dy, 0)\n      dy += rise\n\n      if (oldVelXCol'],
  ...[['dx', '0'], ['0', 'dz'], ['dx', 'dz']].map(([x, z]) => [
    'edges: a sneaking body keeps to where its box, lowered by a step, meets a block (Player.maybeBackOffFromEdge)',
    `getSurroundingBBs(world, getPlayerBB(pos).offset(${x}, 0, ${z})).length === 0`,
    `isClear(world, getPlayerBB(pos).offset(${x}, -physics.stepHeight, ${z}))`]),
  ['edges: also one that is in the air, less than a step above the ground (Player.isAboveGround)',
    'if (entity.control.sneak && entity.onGround) {',
    `const fallen = entity.fallen ?? 0
    if (entity.control.sneak && (entity.onGround || (fallen < physics.stepHeight &&
      !isClear(world, getPlayerBB(pos).offset(0, fallen - physics.stepHeight, 0))))) {`],
  ['edges: how far it has fallen',
    '    entity.onGround = entity.isCollidedVertically && oldVelY < 0\n',
    `    entity.onGround = entity.isCollidedVertically && oldVelY < 0
    entity.fallen = entity.onGround || entity.isInWater ? 0 : fallen - Math.min(dy, 0)\n`],
  ['edges: what the two ask',
    '  function moveEntity (',
    `  function isClear (world, bb) {
    return !getSurroundingBBs(world, bb).some(box => bb.intersects(box))
  }

  function moveEntity (`],
  ['corners: who is stopped along z keeps the speed along x, even when stopped along x too (Entity.move of 1.16.5)',
    '    if (dx !== oldVelX) vel.x = 0\n    if (dz !== oldVelZ) vel.z = 0\n',
    '    if (dz !== oldVelZ) vel.z = 0\n    else if (dx !== oldVelX) vel.x = 0\n']
]

function loadPhysics (corrections) {
  const file = require.resolve('prismarine-physics')
  let text = readFileSync(file, 'utf8')
  for (const [why, was, is] of corrections) {
    if (text.split(was).length !== 2) throw new Error(`correction does not fit this version of the package: ${why}`)
    text = text.replace(was, () => is)
  }
  const loaded = new Module(file)
  loaded.filename = file
  loaded.paths = Module._nodeModulePaths(path.dirname(file))
  loaded._compile(text, file)
  return loaded.exports.Physics
}

// Our state names: links are bits (1 north, 2 east, 4 south, 8 west); "open" of chests is ours alone.
function blockOf (name) {
  const [kind, list] = name.replace(']', '').split('[')
  const type = registry.blocksByName[kind]
  const properties = Block.fromStateId(type.defaultState, 1).getProperties()
  for (const [key, value] of (list ?? '').split(',').filter(Boolean).map(item => item.split('='))) {
    if (key === 'links') SIDES.forEach((side, i) => { properties[side] = Boolean(value & (1 << i)) })
    else if (kind === 'vine') properties[value] = true
    else if (key in properties) properties[key] = { true: true, false: false }[value] ?? value
  }
  return Block.fromProperties(type.id, properties, 1)
}

function makeWorld (fills) {
  const cells = new Map()
  const air = blockOf('air')
  const stone = blockOf('stone')
  for (const [name, x0, y0, z0, x1, y1, z1, strideX = 1, strideZ = 1] of fills) {
    const block = blockOf(name)
    for (let x = x0; x <= x1; x += strideX) {
      for (let z = z0; z <= z1; z += strideZ) for (let y = y0; y <= y1; y++) cells.set((x * SIZE + z) * 64 + y, block)
    }
  }
  return {
    getBlock (at) {
      const position = at.floored()
      const { x, y, z } = position
      const filled = y >= 0 && y < 64 && cells.get(((x & (SIZE - 1)) * SIZE + (z & (SIZE - 1))) * 64 + y)
      const block = Object.create(filled || (y < 20 ? stone : air))
      block.position = position
      return block
    }
  }
}

// Small and seeded (mulberry32), so that the scripts are the same on every run.
function randomSource (seed) {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

// Keys are held for 4 to 25 ticks; the body mostly goes ahead, and turns now and then.
function makeScript ({ terrain, start, yaw, seed, likes = {} }) {
  const random = randomSource(seed)
  const odds = { forward: 0.85, back: 0.08, left: 0.2, right: 0.2, jump: 0.35, sneak: 0.12, sprint: 0.5, ...likes }
  const keys = []
  const yaws = []
  let turn = 0
  while (keys.length < NUM_TICKS) {
    const held = KEYS.reduce((bits, key, i) => bits | ((random() < odds[key]) << i), 0)
    const numTicks = 4 + Math.floor(random() * 22)
    if (random() < 0.5) turn = (random() - 0.5) * 12
    for (let i = 0; i < numTicks && keys.length < NUM_TICKS; i++) {
      yaw = Math.round((yaw + (i < 8 ? turn : 0)) * 100) / 100
      keys.push(held)
      yaws.push(yaw)
    }
  }
  return { terrain, start, keys, yaws }
}

// What the game does before the package's part of a tick (LocalPlayer.aiStep): the package leaves it to its caller.
function pressKeys (physics, entity, client, keys, yaw, isInWater) {
  physics.playerHeight = client.isCrouched ? 1.5 : 1.8
  const slowdown = client.isCrouched ? 0.3 : 1 // the pose follows the key one tick later
  const ahead = (keys.forward - keys.back) * slowdown
  const canSprint = !entity.isCollidedHorizontally && !isInWater && ahead > 1e-5
  const isSprinting = canSprint && (client.isSprinting || (keys.sprint && ahead >= 0.8))
  if (keys.sneak && isInWater) entity.vel.y -= 0.04
  // The package slows down by the key itself.
  const scale = slowdown / (keys.sneak ? 0.3 : 1)
  for (const key of ['forward', 'back', 'left', 'right']) entity.control[key] = keys[key] * scale
  entity.control.jump = keys.jump
  entity.control.sneak = keys.sneak
  // In the air the game still goes by the sprint of the tick before.
  entity.control.sprint = entity.onGround ? isSprinting : client.isSprinting
  entity.yaw = Math.PI - yaw * Math.PI / 180
  client.isSprinting = isSprinting
}

function canStand (world, { x, y, z }) {
  for (let cx = Math.floor(x - 0.3); cx < Math.ceil(x + 0.3); cx++) {
    for (let cz = Math.floor(z - 0.3); cz < Math.ceil(z + 0.3); cz++) {
      for (let cy = Math.floor(y) - 1; cy < Math.ceil(y + 1.8); cy++) {
        for (const [x0, y0, z0, x1, y1, z1] of world.getBlock(new Vec3(cx, cy, cz)).shapes) {
          if (cx + x0 < x + 0.3 - 1e-7 && cx + x1 > x - 0.3 + 1e-7 && cy + y0 < y + 1.8 - 1e-7 && cy + y1 > y + 1e-7 &&
            cz + z0 < z + 0.3 - 1e-7 && cz + z1 > z - 0.3 + 1e-7) return false
        }
      }
    }
  }
  return true
}

function touchesWater (world, { x, y, z }) {
  const water = registry.blocksByName.water.id
  const is = (cx, cy, cz) => world.getBlock(new Vec3(cx, cy, cz)).type === water
  for (let cx = Math.floor(x - 0.299); cx < Math.ceil(x + 0.299); cx++) {
    for (let cz = Math.floor(z - 0.299); cz < Math.ceil(z + 0.299); cz++) {
      for (let cy = Math.floor(y + 0.001); cy < Math.ceil(y + 1.799); cy++) {
        if (is(cx, cy, cz) && cy + (is(cx, cy + 1, cz) ? 1 : 8 / 9) > y + 0.001) return true
      }
    }
  }
  return false
}

function play (Physics, fills, script) {
  const world = makeWorld(fills)
  const physics = Physics(registry, world)
  const entity = {
    pos: new Vec3(...script.start), vel: new Vec3(0, 0, 0), onGround: false, isInWater: false, isInLava: false,
    isInWeb: false, isCollidedHorizontally: false, isCollidedVertically: false, jumpTicks: 0, jumpQueued: false,
    elytraFlying: false, elytraEquipped: false, fireworkRocketDuration: 0, attributes: {}, yaw: 0, pitch: 0,
    control: {}, jumpBoost: 0, speed: 0, slowness: 0, dolphinsGrace: 0, slowFalling: 0, levitation: 0, depthStrider: 0
  }
  const client = { isSprinting: false, isCrouched: false }
  return script.keys.map((bits, tick) => {
    const keys = Object.fromEntries(KEYS.map((key, i) => [key, Boolean(bits & (1 << i))]))
    pressKeys(physics, entity, client, keys, script.yaws[tick], touchesWater(world, entity.pos))
    physics.simulatePlayer(entity, world)
    client.isCrouched = keys.sneak || (client.isCrouched && !canStand(world, entity.pos))
    return [entity.pos.x, entity.pos.y, entity.pos.z].map(value => Math.round(value * 1e6) / 1e6)
  })
}

const PLANS = [
  ['flat', 4, [16.5, 20, 16.5]], ['hills', 4, [16.5, 20, 16.5]], ['slabs', 4, [16.5, 20.5, 16.5]],
  ['stairs', 4, [16.5, 20, 18.5], { forward: 1, back: 0 }], ['layers', 3, [16.5, 21, 16.5]],
  ['fences', 3, [17.5, 20, 17.5]], ['ceiling', 3, [16.5, 20, 16.5], { jump: 0.5, sneak: 0.4 }],
  ['edges', 3, [16.5, 20, 16.5], { sneak: 0.8, jump: 0, sprint: 0.2 }], ['ice', 3, [16.5, 20, 16.5]],
  ['soul_sand', 2, [16.5, 20, 16.5]], ['deep_water', 3, [16.5, 8, 16.5], { jump: 0.4 }],
  ['pond', 2, [16.5, 20, 7.5], { jump: 0.7, forward: 1, back: 0 }], ['shallows', 2, [16.5, 20, 16.5]],
  ['ladders', 3, [16.5, 20, 17.5], { forward: 1, back: 0, jump: 0.1, left: 0.1, right: 0.1 }],
  ['vines', 1, [16.5, 20, 17.5], { forward: 1, back: 0, jump: 0.2 }], ['cobwebs', 1, [16.5, 20, 16.5]],
  ['lava', 1, [16.5, 20, 7.5], { jump: 0.7, forward: 1, back: 0 }], ['slime', 1, [16.5, 22, 16.5], { jump: 0.2 }],
  ['towers', 1, [16.5, 31, 16.5], { forward: 1, back: 0 }], ['furniture', 2, [16.5, 20, 16.5]]
]

const terrains = JSON.parse(readFileSync(path.join(folder, 'terrains.json'), 'utf8'))
const asPublished = loadPhysics([])
const asTheGame = loadPhysics(CORRECTIONS)
// What a script shows that the package does otherwise: the topics that change it by themselves.
const TOPICS = [...new Set(CORRECTIONS.map(([why]) => why.split(':')[0]))]
const topicAlone = TOPICS.map(topic => loadPhysics(CORRECTIONS.filter(([why]) => why.startsWith(`${topic}:`))))
const firstDifference = (one, other) =>
  one.findIndex((at, tick) => at.some((value, axis) => Math.abs(value - other[tick][axis]) > 1e-4))
const lines = []
for (const [plan, [terrain, count, start, likes]] of PLANS.entries()) {
  for (let i = 0; i < count * numTimes; i++) {
    const script = makeScript({ terrain, start, yaw: 40 * i - 20, seed: 100 * plan + i, likes })
    const published = play(asPublished, terrains[terrain], script)
    const game = play(asTheGame, terrains[terrain], script)
    const row = { name: `${terrain}-${i}`, ...script, positions: published }
    const departs = firstDifference(published, game)
    if (departs >= 0) {
      const changes = Physics => firstDifference(published, play(Physics, terrains[terrain], script)) >= 0
      const topics = TOPICS.filter((topic, t) => changes(topicAlone[t]))
      Object.assign(row, { published_until: departs, topics, positions: game })
    }
    lines.push(JSON.stringify(row))
    const end = row.positions[NUM_TICKS - 1].map(value => value.toFixed(1)).join(' ')
    console.log(row.name.padEnd(14), end.padEnd(18), departs < 0 ? '' : `departs at tick ${departs}: ${row.topics}`)
  }
}
writeFileSync(path.resolve(folder, outFile), `[\n${lines.join(',\n')}\n]\n`)
