/**
 * `npm run bench:shutdown`: 20 rounds of SIGTERM under full load, on SQLite and PostgreSQL: no request may be reset, or
 * be left without an answer.
 */

import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { KeptFigures, KeptLoad } from './load/keep-alive-load.ts'
import { serve } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { domaindex, end, ROOT, run, temporary } from './measure/process.ts'
import { atMost, figure, type Line, report } from './measure/report.ts'
import { writeRound } from './world/observation-files.ts'
import { connectionTo, startServer } from './world/postgres.ts'
import { makeTokens, type StoreFiles, storeIn } from './world/store.ts'
import { firstRound, nameOf, type World } from './world/world.ts'

/** Connections and requests ahead on each. */
const LOADS = { 'keep-alive': [200, 1], pipelined: [50, 10], overload: [2_000, 1] } as const
const WORKERS = 2

const options = readOptions(2_000, 1, 20)
const folder = temporary()
const world: World = { seed: 1, names: options.names, text: false }
const path = join(folder, 'world.jsonl')
writeRound(path, world, firstRound(), 'slot')
const sqlite = storeIn(folder)
const postgres = await startServer(folder)
const client = new pg.Client({ ...connectionTo(postgres.socket), database: 'postgres' })
await client.connect()
await client.query('create database shutdown')
await client.end()
const url = `postgres://bench@localhost/shutdown?host=${postgres.socket}`
const stores: Record<string, StoreFiles> = {
  SQLite: sqlite,
  PostgreSQL: { ...storeIn(folder, 'postgres'), url, env: { DOMAINDEX_STORE: url } },
}
const lines: Line[] = []
const raw: Record<string, unknown> = {}
try {
  for (const [engine, store] of Object.entries(stores)) {
    if (options.only !== null && options.only !== engine) continue
    await run(domaindex('import', path), { env: store.env })
    const tokens = await makeTokens(store, 50, world.seed)
    for (const [what, [connections, depth]] of Object.entries(LOADS)) {
      const rounds: (KeptFigures & { seconds: number })[] = []
      for (let round = 0; round < options.rounds; round++) rounds.push(await stop(store, tokens, connections, depth))
      raw[`${engine} ${what}`] = rounds
      const sum = (pick: (round: KeptFigures) => number) => rounds.reduce((total, round) => total + pick(round), 0)
      lines.push(
        figure(
          `${engine}, ${what}: answers`,
          sum(({ statuses }) => statuses['200'] ?? 0),
          '',
        ),
      )
      lines.push(
        atMost(
          '  reset',
          sum(({ reset }) => reset),
          '',
          0,
        ),
      )
      lines.push(
        atMost(
          '  ended without an answer, or a word before',
          sum(({ cut }) => cut),
          '',
          0,
        ),
      )
      lines.push(figure('  longest end', Math.max(...rounds.map(({ seconds }) => seconds)), 's'))
    }
  }
  report(
    'shutdown',
    lines,
    [`${options.rounds} rounds each; ${WORKERS} workers; SIGTERM after ${options.seconds} s of load`],
    raw,
  )
} finally {
  await end(postgres.started)
  rmSync(folder, { recursive: true })
}

/** One round: a server, its load, SIGTERM amid it. */
async function stop(store: StoreFiles, tokens: readonly string[], connections: number, depth: number) {
  const server = await serve(store, { workers: WORKERS })
  const asks = tokens.map((token, index) => {
    const body = JSON.stringify({ token, query: nameOf(world, index) })
    return `POST /v1.0/lookup HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  })
  const given: KeptLoad = { port: Number(new URL(server.origin).port), connections, depth, warm: 0, seconds: 30, asks }
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'shutdown.json')
  writeFileSync(file, JSON.stringify(given))
  const loader = spawn(process.execPath, [join(ROOT, 'bench/load/keep-alive-load.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  loader.stdout.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = new Promise((resolve) => loader.on('close', resolve))
  await sleep(1_000 + options.seconds * 1_000)
  const began = performance.now()
  await end(server.started)
  const seconds = (performance.now() - began) / 1_000
  await ended // nobody listens any more, so its clients end too
  return { ...(JSON.parse(said) as KeptFigures), seconds }
}
