/**
 * `npm run bench:flood`: measures what other clients notice while connections pipeline hundreds of thousands of
 * requests, and what remains afterwards.
 */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { countFailures, postRequest, runKeepAliveLoad } from './load/keep-alive.ts'
import type { KeepAliveResult } from './load/keep-alive-load.ts'
import { startDomaindex } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { makeTemporaryFolder, stopProcess } from './measure/process.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'
import { createImportedWorld } from './world/imported-world.ts'
import { domainNameAt } from './world/world.ts'

const FLOOD_REQUEST = 'GET /openapi.json HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n'
const PIPELINED_REQUESTS = 600_000
const CLIENTS = 8
const WORKERS = 2
const MEBIBYTE = 2 ** 20
/** Milliseconds after the end of a flood by which nothing of it may remain. */
const SETTLE_MILLISECONDS = 2_000

const options = readOptions(2_000, 8)
const folder = makeTemporaryFolder()
const { world, store, tokens } = await createImportedWorld(folder, options.names, 50)
const server = await startDomaindex(store, { workers: WORKERS })
const port = Number(new URL(server.origin).port)
const metrics: Metric[] = []
const raw: Record<string, unknown> = {}
try {
  await runLookups() // warm-up
  const alone = await runLookups()
  const memoryBefore = serverMemory()
  metrics.push(metric('/lookup alone', alone.rate, 'responses/s'), metric('  p99', alone.p99, 'ms'))
  for (const [label, connections] of Object.entries({ 'one connection': 1, '50 connections': 50 })) {
    const flood = Array.from({ length: connections }, startFlood)
    await sleep(1_000)
    const during = await runLookups()
    const memoryDuring = serverMemory()
    const responseBytes = flood.reduce((sum, each) => sum + each.bytes, 0)
    for (const { socket } of flood) socket.destroy()
    await sleep(SETTLE_MILLISECONDS)
    const after = { connections: countConnections(), memory: serverMemory() }
    raw[label] = { alone, during, memoryBefore, memoryDuring, after }
    metrics.push(
      metric(
        `${label}, each ${PIPELINED_REQUESTS.toLocaleString('en')} pipelined requests: responses read`,
        responseBytes / MEBIBYTE,
        'MiB',
      ),
    )
    metrics.push(metricWithMax('  concurrent lookups that did not get 200', countFailures(during), '', 0))
    metrics.push(metric('  their rate', during.rate, 'responses/s'))
    metrics.push(metricWithMax('  their p99 to that alone', during.p99 / alone.p99, '×', 3))
    metrics.push(
      metricWithMax('  additional memory of all processes', (memoryDuring - memoryBefore) / MEBIBYTE, 'MiB', 64),
    )
    metrics.push(
      metricWithMax(`  connections ${SETTLE_MILLISECONDS / 1_000} s after the end`, after.connections, '', 0),
    )
  }
  const flood = Array.from({ length: 2 }, startFlood)
  await sleep(1_000)
  const startedAt = performance.now()
  await stopProcess(server.running)
  metrics.push(metricWithMax('shutdown during a flood', (performance.now() - startedAt) / 1_000, 's', 5))
  for (const { socket } of flood) socket.destroy()
  report(
    'flood',
    metrics,
    [`${WORKERS} workers on one core, ${CLIENTS} clients of /lookup on another, floods from a third`],
    raw,
  )
} finally {
  await stopProcess(server.running)
  rmSync(folder, { recursive: true })
}
process.exit(0)

/** Sends requests as fast as the server accepts them and reads all responses. */
function startFlood(): { socket: Socket; readonly bytes: number } {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  const flood = { socket, bytes: 0 }
  socket.on('data', ({ length }) => (flood.bytes += length))
  socket.write(FLOOD_REQUEST.repeat(PIPELINED_REQUESTS))
  return flood
}

async function runLookups(): Promise<KeepAliveResult> {
  const requests = tokens.map((token, index) =>
    postRequest('/v1.0/lookup', { token, query: domainNameAt(world, index) }),
  )
  return runKeepAliveLoad(folder, {
    port,
    connections: CLIENTS,
    depth: 1,
    warmUpSeconds: 1,
    seconds: options.seconds,
    requests,
  })
}

/** Returns the resident bytes of all processes of the server. */
function serverMemory(): number {
  return serverPids().reduce((sum, pid) => {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return sum + Number(kilobytes) * 1_024
  }, 0)
}

/** Returns the process ids of the primary and its children. */
function serverPids(): number[] {
  const first = server.running.child.pid!
  const children = readdirSync(`/proc/${first}/task`).flatMap((task) => {
    const file = `/proc/${first}/task/${task}/children`
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : []
  })
  return [first, ...children]
}

/** Counts the established connections to the server's port. */
function countConnections(): number {
  const portField = `:${port.toString(16).toUpperCase().padStart(4, '0')} `
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  return lines.filter((line) => line.includes(portField) && /^\s*\d+: \S+ \S+ 01 /.test(line)).length
}
