/**
 * `npm run bench:flood`: what other clients notice while connections send hundreds of thousands of requests ahead, and
 * what is left of it.
 */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KeptFigures, KeptLoad } from './load/keep-alive-load.ts'
import { LOAD_CORE, serve } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { domaindex, end, ROOT, run, temporary } from './measure/process.ts'
import { atMost, figure, type Line, report } from './measure/report.ts'
import { writeRound } from './world/observation-files.ts'
import { makeTokens, storeIn } from './world/store.ts'
import { firstRound, nameOf, type World } from './world/world.ts'

const ASK = 'GET /openapi.json HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n'
const AHEAD = 600_000
const CLIENTS = 8
const WORKERS = 2
const MEBIBYTE = 2 ** 20
/** Milliseconds after the end of a flood when nothing of it may be left. */
const AFTER = 2_000

const options = readOptions(2_000, 8)
const folder = temporary()
const world: World = { seed: 1, names: options.names, text: false }
const store = storeIn(folder)
const path = join(folder, 'world.jsonl')
writeRound(path, world, firstRound(), 'slot')
await run(domaindex('import', path), { env: store.env })
const tokens = await makeTokens(store, 50, world.seed)
const server = await serve(store, { workers: WORKERS })
const port = Number(new URL(server.origin).port)
const lines: Line[] = []
const raw: Record<string, unknown> = {}
try {
  await lookups() // warm
  const alone = await lookups()
  const before = memory()
  lines.push(figure('/lookup alone', alone.rate, 'answers/s'), figure('  p99', alone.p99, 'ms'))
  for (const [what, connections] of Object.entries({ 'one connection': 1, '50 connections': 50 })) {
    const flood = Array.from({ length: connections }, flooder)
    await sleep(1_000)
    const beside = await lookups()
    const during = memory()
    const answered = flood.reduce((sum, each) => sum + each.bytes, 0)
    for (const { socket } of flood) socket.destroy()
    await sleep(AFTER)
    const after = { connections: sockets(), memory: memory() }
    raw[what] = { alone, beside, before, during, after }
    lines.push(
      figure(
        `${what}, each ${AHEAD.toLocaleString('en')} requests ahead: read of the answers`,
        answered / MEBIBYTE,
        'MiB',
      ),
    )
    lines.push(atMost('  lookups beside: not answered 200', notWell(beside), '', 0))
    lines.push(figure('  rate', beside.rate, 'answers/s'))
    lines.push(atMost('  p99 to that alone', beside.p99 / alone.p99, '×', 3))
    lines.push(atMost('  more memory of the workers', (during - before) / MEBIBYTE, 'MiB', 64))
    lines.push(atMost(`  connections ${AFTER / 1_000} s after`, after.connections, '', 0))
  }
  const flood = Array.from({ length: 2 }, flooder)
  await sleep(1_000)
  const began = performance.now()
  await end(server.started)
  lines.push(atMost('SIGTERM amid a flood', (performance.now() - began) / 1_000, 's', 5))
  for (const { socket } of flood) socket.destroy()
  report(
    'flood',
    lines,
    [`${WORKERS} workers on one core, ${CLIENTS} clients of /lookup on another; floods from a third`],
    raw,
  )
} finally {
  await end(server.started)
  rmSync(folder, { recursive: true })
}
process.exit(0)

/** Sends requests as fast as they are taken, and reads all answers. */
function flooder(): { socket: Socket; readonly bytes: number } {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  const flood = { socket, bytes: 0 }
  socket.on('data', ({ length }) => (flood.bytes += length))
  socket.write(ASK.repeat(AHEAD))
  return flood
}

async function lookups(): Promise<KeptFigures> {
  const asks = tokens.map((token, index) => {
    const body = JSON.stringify({ token, query: nameOf(world, index) })
    return `POST /v1.0/lookup HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  })
  const given: KeptLoad = { port, connections: CLIENTS, depth: 1, warm: 1, seconds: options.seconds, asks }
  const file = join(folder, 'flood.json')
  writeFileSync(file, JSON.stringify(given))
  return JSON.parse(
    await run([process.execPath, join(ROOT, 'bench/load/keep-alive-load.ts'), file], { core: LOAD_CORE }),
  )
}

function notWell({ statuses, reset, cut }: KeptFigures): number {
  const others = Object.entries(statuses).filter(([status]) => status !== '200')
  return others.reduce((sum, [, count]) => sum + count, reset + cut)
}

/** Bytes of all processes of the server. */
function memory(): number {
  return processes().reduce((sum, process) => {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${process}/status`, 'utf8')) ?? []
    return sum + Number(kilobytes) * 1_024
  }, 0)
}

/** The server's own processes: the first one, and what it started. */
function processes(): number[] {
  const first = server.started.child.pid!
  const children = readdirSync(`/proc/${first}/task`).flatMap((task) => {
    const file = `/proc/${first}/task/${task}/children`
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : []
  })
  return [first, ...children]
}

/** Established connections to the server's port. */
function sockets(): number {
  const place = `:${port.toString(16).toUpperCase().padStart(4, '0')} `
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  return lines.filter((line) => line.includes(`${place}`) && /^\s*\d+: \S+ \S+ 01 /.test(line)).length
}
