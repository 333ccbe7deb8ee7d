/** `npm run bench:dns`: how many questions a second our resolver asks of nsd, beside dnsperf and node:dns in turn. */

import { mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Server } from '../src/probe/dns/resolver.ts'
import { startNsd } from './dns/nsd.ts'
import type { Asked, Order } from './dns/query-client.ts'
import { inTurn, medianOf } from './measure/measure.ts'
import { type Options, readOptions } from './measure/options.ts'
import { has, run, temporary } from './measure/process.ts'
import { atLeast, figure, type Line, report } from './measure/report.ts'

const SERVER_CORE = 0
const LOAD_CORE = 1
const MANY = 2000
/** In flight; each contender is tried with all of them for a moment, and measured with the one that suits it best. */
const FLIGHTS = [50, 100, 200, 400, 800]
const TRIAL_SECONDS = 2
const DNSPERF_CLIENTS = 16
const ASKER = fileURLToPath(new URL('dns/query-client.ts', import.meta.url))

type Place = { server: Server; questions: string; names: number }
type Who = Order['who'] | 'dnsperf'

process.env.PATH = `${process.env.PATH}:/usr/sbin`
for (const [program, debian] of [
  ['nsd', 'nsd'],
  ['dnsperf', 'dnsperf'],
] as const) {
  if (has(program)) continue
  console.error(`${program} is missing: apt-get install ${debian}, and stop the service where it starts one`)
  process.exit(1)
}

const options = readOptions(200_000)
const folder = options.folder ?? temporary()
mkdirSync(folder, { recursive: true })
try {
  const nsd = await startNsd(folder, options.names, SERVER_CORE)
  try {
    await compare({ ...nsd, names: options.names }, options)
  } finally {
    await nsd.close()
  }
} finally {
  if (options.folder === null) rmSync(folder, { recursive: true })
}

async function compare(place: Place, { rounds, seconds, names }: Options): Promise<void> {
  const best = {
    ours: await bestFlight('ours', place),
    'node:dns': await bestFlight('node:dns', place),
    dnsperf: await bestFlight('dnsperf', place),
  }
  const asked = await inTurn(rounds, {
    dnsperf: () => measure('dnsperf', place, best.dnsperf, seconds),
    ours: () => measure('ours', place, best.ours, seconds),
    'node:dns': () => measure('node:dns', place, best['node:dns'], seconds),
    'ours, many': () => measure('ours', place, MANY, seconds),
    'node:dns, many': () => measure('node:dns', place, MANY, seconds),
  })
  const notes = [
    `${names.toLocaleString('en')} names of nsd, one process on one core, asked from the other; median of ${rounds} × ${seconds} s; every address is checked`,
    `in flight where each is fastest: ours ${best.ours}, node:dns ${best['node:dns']}, dnsperf ${best.dnsperf}; dnsperf checks no address`,
  ]
  report('dns', linesOf(asked), notes, { best, asked })
}

function linesOf(asked: Record<string, Asked[]>): Line[] {
  const rate = (key: string) => medianOf(asked[key]!, (each) => each.rate)
  const cost = (key: string) => medianOf(asked[key]!, (each) => each.microseconds)
  const wrong = (key: string) => asked[key]!.reduce((sum, each) => sum + each.wrong, 0)
  return [
    atLeast('ours to dnsperf', rate('ours') / rate('dnsperf'), 'times', 0.4),
    atLeast('ours to node:dns', rate('ours') / rate('node:dns'), 'times', 1.1),
    atLeast(`ours to node:dns with ${MANY} in flight`, rate('ours, many') / rate('node:dns, many'), 'times', 4),
    ...Object.keys(asked).flatMap((key) => [
      figure(key, rate(key), 'answers/s'),
      ...(key === 'dnsperf' ? [] : [figure('  processor time', cost(key), 'µs an answer')]),
      figure('  wrong or none', wrong(key), 'answers'),
    ]),
  ]
}

async function bestFlight(who: Who, place: Place): Promise<number> {
  const rates: number[] = []
  for (const flight of FLIGHTS) rates.push((await measure(who, place, flight, TRIAL_SECONDS)).rate)
  return FLIGHTS[rates.indexOf(Math.max(...rates))]!
}

async function measure(who: Who, place: Place, flight: number, seconds: number): Promise<Asked> {
  const asked = who === 'dnsperf' ? await dnsperf(place, flight, seconds) : await asker(who, place, flight, seconds)
  console.error(`  ${who}, ${flight} in flight: ${Math.round(asked.rate)}/s, ${asked.wrong} wrong or none`)
  return asked
}

async function asker(who: Order['who'], { server, names }: Place, flight: number, seconds: number): Promise<Asked> {
  const order: Order = { who, flight, seconds, names, server }
  return JSON.parse(await run([process.execPath, ASKER, JSON.stringify(order)], { core: LOAD_CORE }))
}

/** With EDNS, as the others; what is lost, and any code but NOERROR, is wrong. */
async function dnsperf({ server, questions }: Place, flight: number, seconds: number): Promise<Asked> {
  const { address, port } = server
  const where = ['-s', address, '-p', String(port), '-d', questions, '-e']
  const how = ['-c', String(DNSPERF_CLIENTS), '-T', '1', '-q', String(flight), '-l', String(seconds)]
  const said = await run(['dnsperf', ...where, ...how], { core: LOAD_CORE })
  const number = (pattern: RegExp) => Number(pattern.exec(said)?.[1] ?? 0)
  const [completed, right] = [number(/Queries completed:\s+(\d+)/), number(/NOERROR (\d+)/)]
  const wrong = number(/Queries lost:\s+(\d+)/) + completed - right
  return { rate: number(/Queries per second:\s+([\d.]+)/), wrong, microseconds: 0 }
}
