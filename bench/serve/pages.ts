/**
 * The parts of bench:serve that ask for pages: how fast they come, how deep ones compare, and who waits for long ones.
 */

import { type Load, load } from '../load/load.ts'
import { ask, openLoop, type Server } from '../load/server.ts'
import { inTurn, medianOf } from '../measure/measure.ts'
import type { Options } from '../measure/options.ts'
import { atLeast, atMost, figure, type Line } from '../measure/report.ts'
import type { Truth } from '../world/answers.ts'
import { diceOf } from '../world/random.ts'
import { HOT_ADDRESS, nameOf, type World } from '../world/world.ts'

/** What all parts work on: who answers, who may ask, and what the right answers are. */
export type Bench = {
  folder: string
  options: Options
  world: World
  tokens: readonly string[]
  ours: Server
  express: Server
  truth: Truth
}

const CONNECTIONS = 16
const WALKERS = 4
const LONG = 50_000
/** A hundred pages of this many rows are fewer than the hot address has. */
const SHORT = 600
/** Of /lookup beside the walkers, requests a second. */
const RATE = 1000
const ASKED = 20_000

/** (d): pages of 1,000 rows at full speed, and how long one of 50,000 takes, plain and gzipped. */
export async function measurePages(bench: Bench, lines: Line[], raw: Record<string, unknown>): Promise<void> {
  for (const gzip of [false, true]) {
    for (const limit of [1000, LONG]) {
      const figures = await inTurn(bench.options.rounds, contenders(bench, limit, gzip))
      raw[`${limit}${gzip ? ' gzipped' : ''}`] = figures
      const pick = limit === LONG ? 'p50' : 'rate'
      const [ours, rows, text] = (['ours', 'rows', 'text'] as const).map((key) =>
        medianOf(figures[key], (each) => each[pick]),
      )
      tellPages(
        `${limit.toLocaleString('en')} rows${gzip ? ', gzipped' : ''}`,
        limit === LONG,
        [ours!, rows!, text!],
        lines,
      )
    }
  }
}

function tellPages(what: string, isLong: boolean, [ours, rows, text]: [number, number, number], lines: Line[]): void {
  const unit = isLong ? 'ms a page' : 'pages/s'
  lines.push(figure(`/reverseip, ${what}`, ours, unit))
  lines.push(figure('  (d) express + pg, rows to JSON', rows, unit))
  lines.push(figure('  (d) express + pg, json_agg', text, unit))
  const judge = isLong ? atMost : atLeast
  lines.push(judge('  to rows to JSON', ours / rows, '×', isLong ? 0.25 : 4))
  lines.push(figure('  to json_agg', ours / text, '×'))
}

function contenders({ folder, options, tokens, ours, express }: Bench, limit: number, gzip: boolean) {
  const bodies = tokens.map((token) => ({ token, query: HOT_ADDRESS, limit }))
  const given = { bodies, gzip, connections: limit === LONG ? 1 : CONNECTIONS, seconds: options.seconds }
  const at = (url: string) => () => load(folder, { ...given, url } satisfies Load)
  return {
    ours: at(`${ours.origin}/v1.0/reverseip`),
    rows: at(`${express.origin}/v1.0/reverseip`),
    text: at(`${express.origin}/text/reverseip`),
  }
}

/** Page 100 beside page 1 of one walk. */
export async function measureDepth(bench: Bench, lines: Line[], raw: Record<string, unknown>): Promise<void> {
  const { folder, options, tokens, ours } = bench
  const url = `${ours.origin}/v1.0/reverseip`
  const page = (next: string | null) => () => {
    const bodies = tokens.map((token) => ({ token, query: HOT_ADDRESS, limit: SHORT, next }))
    return load(folder, { url, bodies, connections: CONNECTIONS, seconds: options.seconds })
  }
  const hundredth = await cursorOf(url, tokens[0]!, 100)
  const depth = await inTurn(options.rounds, { first: page(null), hundredth: page(hundredth) })
  raw.depth = depth
  const [first, last] = [medianOf(depth.first, ({ rate }) => rate), medianOf(depth.hundredth, ({ rate }) => rate)]
  lines.push(figure(`page 1 of a walk, ${SHORT} rows`, first, 'pages/s'))
  lines.push(atLeast('  page 100 to page 1', last / first, '×', 0.95))
}

/** /lookup at an even rate, alone and beside walkers of long pages. */
export async function measureWaits(bench: Bench, lines: Line[], raw: Record<string, unknown>): Promise<void> {
  const { folder, options, tokens, ours } = bench
  const url = `${ours.origin}/v1.0/lookup`
  const alone = () => openLoop(folder, { url, rate: RATE, seconds: options.seconds, bodies: lookups(bench) })
  const walkers = {
    url: `${ours.origin}/v1.0/reverseip`,
    bodies: tokens.map((token) => ({ token, query: HOT_ADDRESS, limit: LONG })),
    connections: WALKERS,
    seconds: options.seconds + 3,
  }
  const beside = async () => {
    const walking = load(folder, walkers)
    await new Promise((done) => setTimeout(done, 1000))
    const figures = await alone()
    return { ...figures, pages: (await walking).rate }
  }
  const waits = await inTurn(options.rounds, { alone: async () => ({ ...(await alone()), pages: 0 }), beside })
  raw.waits = waits
  lines.push(
    figure(
      `/lookup p99 alone, ${RATE.toLocaleString('en')}/s`,
      medianOf(waits.alone, ({ p99 }) => p99),
      'ms',
    ),
  )
  lines.push(
    figure(
      '  p50 beside four walkers',
      medianOf(waits.beside, ({ p50 }) => p50),
      'ms',
    ),
  )
  lines.push(
    atMost(
      '  p99 beside four walkers',
      medianOf(waits.beside, ({ p99 }) => p99),
      'ms',
      10,
    ),
  )
  lines.push(
    figure(
      '  50,000-row pages beside it',
      medianOf(waits.beside, ({ pages }) => pages),
      'pages/s',
    ),
  )
}

/** Bodies for names in no order, from all accounts. */
export function lookups({ world, tokens }: Bench): { token: string; query: string }[] {
  const dice = diceOf(world.seed, 0, 77)
  return Array.from({ length: ASKED }, (_, at) => ({
    token: tokens[at % tokens.length]!,
    query: nameOf(world, Math.floor(dice() * world.names)),
  }))
}

/** The cursor of the page of a number, by walking there. */
async function cursorOf(url: string, token: string, number: number): Promise<string | null> {
  let next: string | null = null
  for (let page = 1; page < number && (page === 1 || next !== null); page++) {
    const { text } = await ask(url, { token, query: HOT_ADDRESS, limit: SHORT, next })
    next = JSON.parse(text).meta.next
  }
  return next
}
