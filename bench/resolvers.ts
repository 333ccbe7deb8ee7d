/**
 * `npm run bench:resolvers`: whether visits through real resolvers at their default limits say anything wrong, and how
 * fast they are.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openResolver, type Server } from '../src/probe/dns/resolver.ts'
import type { IpAddress } from '../src/values/ip-address.ts'
import { freePort } from './measure/port.ts'
import { end, has, hears, run, start, temporary } from './measure/process.ts'
import { atLeast, atMost, figure, type Line, report } from './measure/report.ts'
import { nameAt } from './resolvers/names.ts'
import type { Order, Taken } from './resolvers/probes.ts'
import { SOFTWARE } from './resolvers/software.ts'

const MILLISECONDS_BETWEEN_TRIES = 100
const TRIES = 100
/** Part of what a resolver bears that the limiter has to reach. */
const AIM = 0.9

process.env.PATH = `${process.env.PATH}:/usr/sbin`
const { values } = parseArgs({
  options: {
    names: { type: 'string', default: '10000' },
    sweep: { type: 'string', default: '10000' },
    caps: { type: 'string', default: '80,90,200,400,800,1600' },
    parallel: { type: 'string', default: '256' },
    only: { type: 'string' },
  },
})
const [names, sweep, parallel] = [values.names, values.sweep, values.parallel].map(Number) as [number, number, number]
const caps = values.caps.split(',').filter(Boolean).map(Number)
const authority = start([process.execPath, fileURLToPath(new URL('resolvers/authority.ts', import.meta.url))])
const folder = temporary()
let runs = 0
try {
  const [, upstream] = await hears(authority, /port (\d+)/)
  const lines: Line[] = []
  const raw: Record<string, unknown> = {}
  for (const name of Object.keys(SOFTWARE)) {
    const { program, debian } = SOFTWARE[name]!
    if (values.only !== undefined && values.only !== name) continue
    if (has(program)) lines.push(...(await measure(name, Number(upstream), raw)))
    else console.error(`${name} is passed over, as ${program} is missing: apt-get install ${debian}`)
  }
  const notes = [
    `${names.toLocaleString('en')} names, seven questions each, ${parallel} visits in flight, through each resolver at its default limits; upstream 50 ms away`,
    'of a hundred names three fail with SERVFAIL, one with REFUSED and one with SERVFAIL after 4 s, so that the question times out',
    `what it bears: the fastest of ${sweep.toLocaleString('en')} names each with ${caps.join(', ')} questions in flight, where nothing was wrong or missing`,
  ]
  report('resolvers', lines, notes, raw)
} finally {
  await end(authority)
  rmSync(folder, { recursive: true })
}

async function measure(name: string, upstream: number, raw: Record<string, unknown>): Promise<Line[]> {
  const place = join(folder, name.replaceAll(' ', '-'))
  mkdirSync(place, { recursive: true })
  const server: Server = { address: '127.0.0.1' as IpAddress, port: await freePort() }
  const started = start(SOFTWARE[name]!.command(place, server.port, upstream), { output: join(place, 'said') })
  try {
    await answers(server, started.said)
    const visit = (count: number, fixed: number | null) =>
      visits(name, { server, run: ++runs, names: count, parallel, fixed })
    const fixed: Taken[] = []
    for (const cap of caps) fixed.push(await visit(sweep, cap))
    const clean = fixed.filter((taken) => taken.wrong.length + taken.lost + taken.unjudged === 0)
    const borne = Math.max(...clean.map(({ rate }) => rate))
    const ours = await visit(names, null)
    raw[name] = { ours, fixed: fixed.map((taken, index) => ({ cap: caps[index], ...taken })) }
    return linesOf(name, ours, borne)
  } finally {
    await end(started)
  }
}

function linesOf(name: string, ours: Taken, borne: number): Line[] {
  return [
    atMost(`${name}: wrong`, ours.wrong.length, 'names', 0),
    atMost('  healthy names of which something is missing', ours.lost, 'names', 0),
    atMost('  dead names of which nothing is said', ours.unjudged, 'names', 0),
    figure('  visited', ours.rate, 'names/s'),
    ...(Number.isFinite(borne)
      ? [figure('  what it bears', borne, 'names/s'), atLeast('  of what it bears', ours.rate / borne, 'times', AIM)]
      : []),
    figure('  questions in flight at the end', ours.limit, ''),
    figure('  times that the limit was halved', ours.overloads, ''),
  ]
}

async function visits(name: string, order: Order): Promise<Taken> {
  const child = fileURLToPath(new URL('resolvers/probes.ts', import.meta.url))
  const taken = JSON.parse(await run([process.execPath, child, JSON.stringify(order)])) as Taken
  const { wrong, lost, unjudged, rate, seconds, limit, overloads } = taken
  const how =
    order.fixed === null ? `limiter (${limit} at the end, halved ${overloads} times)` : `${order.fixed} in flight`
  console.error(
    `  ${name}, ${how}: ${Math.round(rate)} names/s, ${wrong.length} wrong, ${lost} with something missing, ${unjudged} unjudged, ${seconds.toFixed(1)} s`,
  )
  for (const each of wrong.slice(0, 5)) console.error(`    ${each}`)
  return taken
}

async function answers(server: Server, said: () => string): Promise<void> {
  const resolver = await openResolver({ servers: [server], timeoutMs: MILLISECONDS_BETWEEN_TRIES, attempts: 1 })
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      if ((await resolver.resolve(nameAt(0, 50), 'A'))?.outcome === 'records') return
      await new Promise((done) => setTimeout(done, MILLISECONDS_BETWEEN_TRIES))
    }
  } finally {
    await resolver.close()
  }
  throw new Error(`the resolver does not answer:\n${said()}`)
}
