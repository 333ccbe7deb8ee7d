/**
 * `npm run bench:batch`: measures the look-ups per second of POST /batch on one core, compared with single calls of
 * /lookup on the same server.
 */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runClosedLoad } from './load/closed-load.ts'
import { LOAD_CORE, startDomaindex } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { makeTemporaryFolder, ROOT, runProcess, stopProcess } from './measure/process.ts'
import { treeCpuSeconds } from './measure/processor-time.ts'
import { metric, metricWithMin, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'
import { computeExpectedAnswers, verifyLookups } from './world/answers.ts'
import { importWorld } from './world/imported-world.ts'
import { createTokens, storeFilesIn } from './world/store.ts'
import type { World } from './world/world.ts'

const ACCOUNTS = 200
const SINGLE_CONNECTIONS = 64
const BATCH_CONNECTIONS = 8
const BATCH_LINES = 1_000
const LOOKUPS = 20_000

type Load = { rate: number; cpuMicroseconds: number }

const options = readOptions(200_000)
const folder = options.folder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
const world: World = { seed: 1, names: options.names, text: false }
const store = storeFilesIn(folder)
const sizeFile = join(folder, 'names')
if (!existsSync(store.facts)) {
  await importWorld(folder, store, world)
  writeFileSync(sizeFile, String(options.names))
} else if (!existsSync(sizeFile) || readFileSync(sizeFile, 'utf8') !== String(options.names)) {
  console.error(`${store.facts} is left from a run with another number of names: remove it, or name another --folder`)
  process.exit(1)
}
const tokens = await createTokens(store, ACCOUNTS, world.seed)
const expected = computeExpectedAnswers(world, LOOKUPS)
const server = await startDomaindex(store)
const url = `${server.origin}/batch`
try {
  await verifyLookups(server, expected, tokens[0]!)
  await verifyBatch()
  const contenders = { single: measureSingle, batch: () => measureBatch(false), zipped: () => measureBatch(true) }
  await runInterleaved(1, contenders)
  const figures = await runInterleaved(options.rounds, contenders)
  const rate = (loads: readonly Load[]) => medianOf(loads, (load) => load.rate)
  const cpu = (loads: readonly Load[]) => medianOf(loads, ({ cpuMicroseconds }) => cpuMicroseconds)
  const { single, batch, zipped } = figures
  report(
    'batch',
    [
      metric('/lookup, single calls', rate(single), 'look-ups/s'),
      metric('  processor time', cpu(single), 'µs'),
      metric('/batch', rate(batch), 'look-ups/s'),
      metric('  processor time', cpu(batch), 'µs'),
      metric('/batch, gzipped', rate(zipped), 'look-ups/s'),
      metric('  processor time', cpu(zipped), 'µs'),
      metricWithMin('/batch to single calls', rate(batch) / rate(single), '×', 3),
      metricWithMin('  by processor time', cpu(single) / cpu(batch), '×', 3),
    ],
    [
      `${options.names.toLocaleString('en')} synthetic names; median of ${options.rounds} interleaved runs of ${options.seconds} s`,
      `batches of ${BATCH_LINES} look-ups on ${BATCH_CONNECTIONS} connections, single calls on ${SINGLE_CONNECTIONS}; one worker with its primary on one core, load on another; ${LOOKUPS} look-ups verified`,
    ],
    figures,
  )
} finally {
  await stopProcess(server.running)
  if (options.folder === null) rmSync(folder, { recursive: true })
}

/** A batch with a part of the look-ups. */
function batchAt(index: number) {
  const first = (index * BATCH_LINES) % LOOKUPS
  const queries = expected.lookups.slice(first, first + BATCH_LINES)
  const lines = queries.map(({ query }) => JSON.stringify({ endpoint: 'lookup', query }))
  return { token: tokens[index % tokens.length]!, body: lines.join('\n'), lines: lines.length }
}

/** Throws if an answer of a batch is wrong. */
async function verifyBatch(): Promise<void> {
  for (let index = 0; index < LOOKUPS / BATCH_LINES; index++) {
    const { token, body } = batchAt(index)
    const response = await fetch(url, { method: 'POST', headers: { Authorization: `Bearer ${token}` }, body })
    const answers = (await response.text()).trimEnd().split('\n')
    const queries = expected.lookups.slice(index * BATCH_LINES, (index + 1) * BATCH_LINES)
    const bodies = queries.map(({ query, result }) => ({ meta: { query, rcode: 200, msg: 'ok' }, result }))
    assert.deepEqual(
      answers.map((line) => JSON.parse(line)),
      bodies.map((each) => ({ status: 200, body: each })),
    )
  }
}

function measureSingle(): Promise<Load> {
  const bodies = expected.lookups.map(({ query }, index) => ({ token: tokens[index % tokens.length]!, query }))
  const load = { url: `${server.origin}/v1.0/lookup`, bodies, connections: SINGLE_CONNECTIONS }
  return runClosedLoad(folder, { ...load, seconds: options.seconds, servers: [server] })
}

async function measureBatch(gzip: boolean): Promise<Load> {
  const BATCHES = join(folder, 'batches.json')
  writeFileSync(BATCHES, JSON.stringify(Array.from({ length: ACCOUNTS }, (_, index) => batchAt(index))))
  const env = { BATCHES, URL: url, CONNECTIONS: String(BATCH_CONNECTIONS), SECONDS: String(options.seconds) }
  const before = treeCpuSeconds(server.running.child.pid!)
  const output = await runProcess([process.execPath, join(ROOT, 'bench/load/batches.ts')], {
    core: LOAD_CORE,
    env: { ...env, GZIP: gzip ? '1' : '' },
  })
  const used = treeCpuSeconds(server.running.child.pid!) - before
  const { answered, failures, seconds } = JSON.parse(output) as { answered: number; failures: number; seconds: number }
  assert.equal(failures, 0)
  return { rate: answered / seconds, cpuMicroseconds: (1e6 * used) / answered }
}
