/**
 * `npm run bench:resolvers`: measures whether probes through real resolvers at their default limits report anything
 * wrong, and how fast they are.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openResolver } from '../src/probe/dns/resolver.ts'
import type { DnsServer } from '../src/probe/dns/server.ts'
import type { IpAddress } from '../src/values/ip-address.ts'
import { findFreePort } from './measure/port.ts'
import {
  isInstalled,
  makeTemporaryFolder,
  runProcess,
  startProcess,
  stopProcess,
  waitForOutput,
} from './measure/process.ts'
import { type Metric, metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { resolverNameAt } from './resolvers/names.ts'
import type { ResolverResult, ResolverTask } from './resolvers/probes.ts'
import { RESOLVERS } from './resolvers/software.ts'

const RETRY_MILLISECONDS = 100
const MAX_ATTEMPTS = 100
/** The share of a resolver's sustainable rate that the concurrency limiter must reach. */
const TARGET_SHARE = 0.9

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
const authority = startProcess([process.execPath, fileURLToPath(new URL('resolvers/authority.ts', import.meta.url))])
const folder = makeTemporaryFolder()
let runs = 0
try {
  const [, upstream] = await waitForOutput(authority, /port (\d+)/)
  const metrics: Metric[] = []
  const raw: Record<string, unknown> = {}
  for (const name of Object.keys(RESOLVERS)) {
    const { program, debianPackage } = RESOLVERS[name]!
    if (values.only !== undefined && values.only !== name) continue
    if (isInstalled(program)) metrics.push(...(await measure(name, Number(upstream), raw)))
    else console.error(`${name} is skipped, because ${program} is not installed: apt-get install ${debianPackage}`)
  }
  const notes = [
    `${names.toLocaleString('en')} names, seven queries each, ${parallel} probes in flight, through each resolver at its default limits; upstream 50 ms away`,
    'of a hundred names three fail with SERVFAIL, one with REFUSED and one with SERVFAIL after 4 s, so that the query times out',
    `sustainable rate: the fastest run without a wrong or missing answer, each over ${sweep.toLocaleString('en')} names, with ${caps.join(', ')} queries in flight`,
  ]
  report('resolvers', metrics, notes, raw)
} finally {
  await stopProcess(authority)
  rmSync(folder, { recursive: true })
}

async function measure(name: string, upstream: number, raw: Record<string, unknown>): Promise<Metric[]> {
  const resolverFolder = join(folder, name.replaceAll(' ', '-'))
  mkdirSync(resolverFolder, { recursive: true })
  const server: DnsServer = { address: '127.0.0.1' as IpAddress, port: await findFreePort() }
  const running = startProcess(RESOLVERS[name]!.command(resolverFolder, server.port, upstream), {
    outputFile: join(resolverFolder, 'output'),
  })
  try {
    await waitForAnswer(server, running.output)
    const runProbes = (count: number, fixed: number | null) =>
      probeNames(name, { server, run: ++runs, names: count, parallel, fixed })
    const fixed: ResolverResult[] = []
    for (const cap of caps) fixed.push(await runProbes(sweep, cap))
    const clean = fixed.filter((result) => result.wrong.length + result.incomplete + result.unreported === 0)
    const sustainedRate = Math.max(...clean.map(({ rate }) => rate))
    const limited = await runProbes(names, null)
    raw[name] = { limited, fixed: fixed.map((result, index) => ({ cap: caps[index], ...result })) }
    return metricsOf(name, limited, sustainedRate)
  } finally {
    await stopProcess(running)
  }
}

function metricsOf(name: string, limited: ResolverResult, sustainedRate: number): Metric[] {
  return [
    metricWithMax(`${name}: wrong`, limited.wrong.length, 'names', 0),
    metricWithMax('  healthy names of which a part is missing', limited.incomplete, 'names', 0),
    metricWithMax('  dead names without an observation', limited.unreported, 'names', 0),
    metric('  probed', limited.rate, 'names/s'),
    ...(Number.isFinite(sustainedRate)
      ? [
          metric('  sustainable rate', sustainedRate, 'names/s'),
          metricWithMin('  ratio to the sustainable rate', limited.rate / sustainedRate, '×', TARGET_SHARE),
        ]
      : []),
    metric('  queries in flight at the end', limited.limit, ''),
    metric('  times that the limit was halved', limited.overloads, ''),
  ]
}

async function probeNames(name: string, task: ResolverTask): Promise<ResolverResult> {
  const child = fileURLToPath(new URL('resolvers/probes.ts', import.meta.url))
  const result = JSON.parse(await runProcess([process.execPath, child, JSON.stringify(task)])) as ResolverResult
  const { wrong, incomplete, unreported, rate, seconds, limit, overloads } = result
  const limitText =
    task.fixed === null ? `limiter (${limit} at the end, halved ${overloads} times)` : `${task.fixed} in flight`
  console.error(
    `  ${name}, ${limitText}: ${Math.round(rate)} names/s, ${wrong.length} wrong, ${incomplete} incomplete, ${unreported} unreported, ${seconds.toFixed(1)} s`,
  )
  for (const each of wrong.slice(0, 5)) console.error(`    ${each}`)
  return result
}

async function waitForAnswer(server: DnsServer, output: () => string): Promise<void> {
  const resolver = await openResolver({ servers: [server], timeoutMs: RETRY_MILLISECONDS, attempts: 1 })
  try {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      if ((await resolver.resolve(resolverNameAt(0, 50), 'A'))?.outcome === 'records') return
      await new Promise((done) => setTimeout(done, RETRY_MILLISECONDS))
    }
  } finally {
    await resolver.close()
  }
  throw new Error(`the resolver does not answer:\n${output()}`)
}
