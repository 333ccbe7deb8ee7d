/** The part of bench:ingest that asks who waits: /lookup at an even rate without and with an import beside it. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenFigures, OpenLoad } from '../load/open-loop.ts'
import { openLoop, serve } from '../load/server.ts'
import { inTurn, medianOf } from '../measure/measure.ts'
import type { Options } from '../measure/options.ts'
import { domaindex, end, run, start } from '../measure/process.ts'
import { atMost, figure, type Line } from '../measure/report.ts'
import { writeRound } from '../world/observation-files.ts'
import { diceOf } from '../world/random.ts'
import { copyStore, makeTokens, removeStore, type StoreFiles, storeIn } from '../world/store.ts'
import { firstRound, nameOf, nextRound, type World } from '../world/world.ts'

const RATE = 2000
const ACCOUNTS = 32
const ASKED = 20_000
/** More than are imported while one load lasts. */
const NEW_NAMES = 400_000

/** What is imported meanwhile: names that are new to the store, and such that are known and unchanged. */
const IMPORTS = ['new', 'unchanged'] as const

export async function besides(
  folder: string,
  options: Options,
  lines: Line[],
  raw: Record<string, unknown>,
): Promise<void> {
  const world: World = { seed: 1, names: options.names, text: false }
  const store = storeIn(folder, 'beside')
  await prepareStore(folder, store, world)
  const tokens = await makeTokens(store, ACCOUNTS, world.seed)
  const server = await serve(store)
  const load = loadOf(server.origin, world, tokens, options.seconds)
  await openLoop(folder, { ...load, seconds: 3 })
  let round = 0
  const figures = await inTurn(options.rounds, {
    without: () => openLoop(folder, load),
    new: () => during(folder, store, newFile(folder, world, round), load),
    unchanged: () => during(folder, store, knownFile(folder, world, round++), load),
  })
  await end(server.started)
  removeStore(store)
  raw.beside = figures
  tell(figures, lines)
}

function tell(figures: Record<'without' | (typeof IMPORTS)[number], OpenFigures[]>, lines: Line[]): void {
  const alone = medianOf(figures.without, ({ p99 }) => p99)
  lines.push(figure('/lookup p99 without an import', alone, 'ms'))
  for (const kind of IMPORTS) {
    const p99 = medianOf(figures[kind], (each) => each.p99)
    lines.push(figure(`/lookup p99 while ${kind} names are imported`, p99, 'ms'))
    lines.push(atMost(`  as a multiple of that without`, p99 / alone, '×', 3))
  }
}

async function prepareStore(folder: string, store: StoreFiles, world: World): Promise<void> {
  const known = storeIn(folder, 'known')
  const path = join(folder, `${world.names}-beside.jsonl`)
  if (existsSync(known.facts)) return copyStore(known, store)
  writeRound(path, world, firstRound(), 'slot')
  removeStore(store)
  await run(domaindex('import', path), { env: store.env })
}

/** Names that have an answer, in no order, from many accounts. */
function loadOf(origin: string, world: World, tokens: readonly string[], seconds: number): OpenLoad {
  const dice = diceOf(world.seed, 0, 77)
  const bodies = Array.from({ length: ASKED }, (_, at) => ({
    token: tokens[at % tokens.length]!,
    query: nameOf(world, Math.floor(dice() * world.names)),
  }))
  return { url: `${origin}/v1.0/lookup`, rate: RATE, seconds, bodies }
}

/** The figures of a load while an import of its own nice value goes on; it is stopped when the load is over. */
async function during(folder: string, store: StoreFiles, file: string, load: OpenLoad): Promise<OpenFigures> {
  const importing = start(domaindex('import', file), { nice: 10, env: store.env })
  await new Promise((done) => setTimeout(done, 1000))
  const figures = await openLoop(folder, load)
  if (importing.child.exitCode !== null) console.error(`  the import was over before the load: ${importing.said()}`)
  await end(importing)
  return figures
}

/** Names beyond those of the store, others every round. */
function newFile(folder: string, world: World, round: number): string {
  const path = join(folder, `${world.names}-new-${round}.jsonl`)
  const from = world.names + round * NEW_NAMES
  if (!existsSync(path)) writeRound(path, world, firstRound(), 'file', { from, to: from + NEW_NAMES })
  return path
}

/** The names of the store, a week later every round. */
function knownFile(folder: string, world: World, round: number): string {
  const path = join(folder, `${world.names}-known-${round}.jsonl`)
  let visit = firstRound()
  for (let week = 0; week <= round; week++) visit = nextRound(visit)
  if (!existsSync(path)) writeRound(path, world, visit, 'file')
  return path
}
