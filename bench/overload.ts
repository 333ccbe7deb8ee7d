/**
 * `npm run bench:overload`: what is answered, and how soon, when 5,000 kept connections ask for more than one worker
 * can answer.
 */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeptFigures, KeptLoad } from './load/keep-alive-load.ts'
import { LOAD_CORE, type Server, serve } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { domaindex, end, ROOT, run, temporary } from './measure/process.ts'
import { childrenOf } from './measure/processor-time.ts'
import { atLeast, atMost, figure, type Line, report } from './measure/report.ts'
import { writeRound } from './world/observation-files.ts'
import { makeTokens, storeIn } from './world/store.ts'
import { firstRound, nameOf, type World } from './world/world.ts'

const MANY = 5_000

const options = readOptions(20_000, 10)
const folder = temporary()
const world: World = { seed: 1, names: options.names, text: false }
const store = storeIn(folder)
const path = join(folder, 'world.jsonl')
writeRound(path, world, firstRound(), 'slot')
await run(domaindex('import', path), { env: store.env })
const tokens = await makeTokens(store, 200, world.seed)
const server = await serve(store)
const lines: Line[] = []
const raw: Record<string, unknown> = {}
try {
  for (const [what, asks] of Object.entries({ '/lookup': lookups(), '/openapi.json': [documentAsk()] })) {
    const peak = await load(server, asks, 64)
    const many = await load(server, asks, MANY)
    raw[what] = { peak, many }
    const refused = many.statuses['500'] ?? 0
    lines.push(
      figure(
        `${what}, ${MANY.toLocaleString('en')} connections, until each was answered`,
        many.settled ?? Number.NaN,
        's',
      ),
    )
    lines.push(figure('  refused until then', many.refusedBefore, ''))
    lines.push(figure(`${what}, 64 connections`, peak.rate, 'answers/s'))
    lines.push(figure('  p99', peak.p99, 'ms'))
    lines.push(atLeast(`${what}, ${MANY.toLocaleString('en')} connections, to that`, many.rate / peak.rate, '×', 0.8))
    lines.push(figure('  p50', many.p50, 'ms'))
    lines.push(atMost('  p99 of what is answered', many.p99, 'ms', 2_000))
    lines.push(figure('  longest', many.most, 'ms'))
    lines.push(figure('  refused with 500 and Retry-After, in all', refused, ''))
    lines.push(figure('  refused a second', many.refusals, ''))
    for (const [loaded, figures] of Object.entries({ '64 connections': peak, 'all of them': many })) {
      const [primary = 0, worker = 0] = figures.watched
      lines.push(figure(`  core of the load, ${loaded}`, 100 * figures.own, '%'))
      lines.push(figure(`  core of the primary, ${loaded}`, 100 * primary, '%'))
      lines.push(figure(`  core of the worker, ${loaded}`, 100 * worker, '%'))
    }
    lines.push(atMost('  reset or cut', many.reset + many.cut, '', 0))
  }
  report(
    'overload',
    lines,
    [`one worker on the first core, load on the second; ${options.seconds} s, once every connection has been answered`],
    raw,
  )
} finally {
  await end(server.started)
  rmSync(folder, { recursive: true })
}

async function load({ origin, started }: Server, asks: readonly string[], connections: number): Promise<KeptFigures> {
  const given: KeptLoad = {
    port: Number(new URL(origin).port),
    connections,
    depth: 1,
    warm: 5,
    settle: 30,
    seconds: options.seconds,
    asks,
    watched: [started.child.pid!, ...childrenOf(started.child.pid!)],
  }
  const file = join(folder, 'kept-load.json')
  writeFileSync(file, JSON.stringify(given))
  return JSON.parse(
    await run([process.execPath, join(ROOT, 'bench/load/keep-alive-load.ts'), file], { core: LOAD_CORE }),
  )
}

function lookups(): string[] {
  return tokens.map((token, index) => {
    const body = JSON.stringify({ token, query: nameOf(world, index) })
    return `POST /v1.0/lookup HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  })
}

function documentAsk(): string {
  return 'GET /openapi.json HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n'
}
