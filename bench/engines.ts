/** `npm run bench:postgres`: serve and ingest on PostgreSQL beside SQLite, in one run. */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { LOADER, load } from './load/load.ts'
import { type Server, serve, yardstick } from './load/server.ts'
import { inTurn, medianOf } from './measure/measure.ts'
import { type Options, readOptions } from './measure/options.ts'
import { domaindex, end, run, temporary, timed, type Used } from './measure/process.ts'
import { atLeast, figure, type Line, report } from './measure/report.ts'
import { lookups } from './serve/pages.ts'
import { type Truth, truthOf, verifyLookups, verifyPages } from './world/answers.ts'
import { type Order, writeRound } from './world/observation-files.ts'
import { connectionTo, type Postgres, startPostgres } from './world/postgres.ts'
import { makeTokens, removeStore, type StoreFiles, storeIn } from './world/store.ts'
import { firstRound, HOT_ADDRESS, nextRound, type Round, type World } from './world/world.ts'

const ENGINES = ['SQLite', 'PostgreSQL'] as const
type Engine = (typeof ENGINES)[number]
type Figure = { rate: number; used: Used }

const ACCOUNTS = 200
const CONNECTIONS = { lookup: 64, page: 16 }
const VERIFIED = 300
const PAGE_ROWS = 1000
const SEED = 1

const second = nextRound(firstRound())
const KINDS: { name: string; order: Order; round: Round; aim: number }[] = [
  { name: 'new', order: 'file', round: firstRound(), aim: 5_000 },
  { name: 'unchanged, in the order of the file', order: 'file', round: second, aim: 20_000 },
  { name: 'unchanged, in the order of the slots', order: 'slot', round: nextRound(second), aim: 20_000 },
]

const options = readOptions(100_000, 5, 3)
const folder = options.folder ?? temporary()
mkdirSync(folder, { recursive: true })
const world: World = { seed: SEED, names: options.names, text: false }
const files = storeIn(folder, 'sqlite')
const tokens: string[] = await makeTokens(files, ACCOUNTS, SEED)
const postgres = await startPostgres(folder, world, tokens)
const url = `postgres://bench@localhost/domaindex?host=${postgres.socket}`
const stores: Record<Engine, StoreFiles> = {
  SQLite: files,
  PostgreSQL: { ...storeIn(folder, 'postgres'), url, env: { DOMAINDEX_STORE: url } },
}
const servers: Server[] = []
try {
  const lines: Line[] = []
  const raw: Record<string, unknown> = {}
  await measureIngest(stores, postgres, options, lines, raw)
  if (options.only !== 'ingest') await measureServe(stores, postgres, lines, raw)
  report('postgres', lines, notes(options), raw)
} finally {
  for (const { started } of [...servers, postgres]) await end(started)
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function notes({ names, rounds, seconds }: Options): string[] {
  return [
    `${names.toLocaleString('en')} made-up names, seed ${SEED}; median of ${rounds} rounds in turn; PostgreSQL 18 on the same machine, durable, on either core`,
    `ingest: the whole process of an import; serve: one worker with its primary on the first core, ${LOADER} for ${seconds} s on the second`,
  ]
}

/** Each round both engines take the same three files into an empty store, one engine after the other. */
async function measureIngest(
  stores: Record<Engine, StoreFiles>,
  postgres: Postgres,
  { names, rounds }: Options,
  lines: Line[],
  raw: Record<string, unknown>,
): Promise<void> {
  const figures: Record<string, Record<Engine, Figure[]>> = {}
  for (let round = 0; round < rounds; round++) {
    removeStore(stores.SQLite)
    await emptyDatabase(postgres)
    for (const { name, order, round: visit } of KINDS) {
      const path = join(folder, 'round.jsonl')
      writeRound(path, world, visit, order)
      for (const engine of ENGINES) {
        const { said, seconds, used } = await timed(['import', path], { env: stores[engine].env })
        const count = new RegExp(`${name === 'new' ? 'applied' : 'unchanged'} ${names},`)
        if (!count.test(said)) throw new Error(`not what was expected: ${said}`)
        figures[name] ??= { SQLite: [], PostgreSQL: [] }
        figures[name][engine].push({ rate: names / seconds, used })
        console.error(`  ${engine}, ${name}: ${Math.round(names / seconds)}/s`)
      }
    }
  }
  for (const { name, aim } of KINDS) {
    const [sqlite, ours] = ENGINES.map((engine) => medianOf(figures[name]![engine], ({ rate }) => rate))
    lines.push(atLeast(`${name}, PostgreSQL`, ours!, 'observations/s', aim))
    lines.push(figure('  SQLite', sqlite!, 'observations/s'))
    lines.push(figure('  PostgreSQL to SQLite', ours! / sqlite!, '×'))
  }
  raw.ingest = figures
}

async function emptyDatabase({ socket }: Postgres): Promise<void> {
  const client = new pg.Client(connectionTo(socket))
  await client.connect()
  await client.query('drop database if exists domaindex with (force)')
  await client.query('create database domaindex')
  await client.end()
}

async function measureServe(
  stores: Record<Engine, StoreFiles>,
  { socket }: Postgres,
  lines: Line[],
  raw: Record<string, unknown>,
): Promise<void> {
  for (const engine of ENGINES) await makeTokens(stores[engine], ACCOUNTS, SEED)
  await run(domaindex('check'), { env: stores.PostgreSQL.env })
  const sqlite = await serve(stores.SQLite)
  const ours = await serve(stores.PostgreSQL)
  const express = await yardstick('express', { PG_SOCKET: socket })
  servers.push(sqlite, ours, express)
  const truth = truthOf(world, VERIFIED)
  await verify([sqlite, ours], truth)
  await compareLookups({ sqlite, ours, express }, truth, lines, raw)
  await comparePages({ sqlite, ours, express }, lines, raw)
  await verify([ours], truth)
}

async function verify(servers: readonly Server[], truth: Truth): Promise<void> {
  for (const server of servers) {
    await verifyLookups(server, truth, tokens[0]!)
    await verifyPages(`${server.origin}/v1.0/reverseip`, truth, tokens[0]!, PAGE_ROWS)
  }
}

type Contenders = Record<'sqlite' | 'ours' | 'express', Server>

async function compareLookups(
  { sqlite, ours, express }: Contenders,
  truth: Truth,
  lines: Line[],
  raw: Record<string, unknown>,
): Promise<void> {
  const bodies = lookups({ folder, options, world, tokens, ours, express, truth })
  const at = (origin: string, path: string) => () =>
    load(folder, { url: origin + path, bodies, connections: CONNECTIONS.lookup, seconds: options.seconds })
  const contenders = {
    ours: at(ours.origin, '/v1.0/lookup'),
    sqlite: at(sqlite.origin, '/v1.0/lookup'),
    point: at(express.origin, '/point'),
    job: at(express.origin, '/v1.0/lookup'),
  }
  await inTurn(1, contenders)
  const figures = await inTurn(options.rounds, contenders)
  raw.lookup = figures
  const rate = (key: keyof typeof figures): number => medianOf(figures[key], (each) => each.rate)
  lines.push(figure('/lookup, PostgreSQL', rate('ours'), 'requests/s'))
  lines.push(
    figure(
      '  p99 under full load',
      medianOf(figures.ours, ({ p99 }) => p99),
      'ms',
    ),
  )
  lines.push(figure('  SQLite', rate('sqlite'), 'requests/s'))
  lines.push(figure('  express + pg, one point query', rate('point'), 'requests/s'))
  lines.push(figure('  express + pg, the same job', rate('job'), 'requests/s'))
  lines.push(atLeast('  PostgreSQL to the point query', rate('ours') / rate('point'), '×', 1))
  lines.push(figure('  PostgreSQL to the same job', rate('ours') / rate('job'), '×'))
  lines.push(figure('  PostgreSQL to SQLite', rate('ours') / rate('sqlite'), '×'))
}

async function comparePages(
  { sqlite, ours, express }: Contenders,
  lines: Line[],
  raw: Record<string, unknown>,
): Promise<void> {
  const bodies = tokens.map((token) => ({ token, query: HOT_ADDRESS, limit: PAGE_ROWS }))
  const at = (origin: string, path: string) => () =>
    load(folder, { url: origin + path, bodies, connections: CONNECTIONS.page, seconds: options.seconds })
  const figures = await inTurn(options.rounds, {
    ours: at(ours.origin, '/v1.0/reverseip'),
    sqlite: at(sqlite.origin, '/v1.0/reverseip'),
    text: at(express.origin, '/text/reverseip'),
  })
  raw.pages = figures
  const rate = (key: keyof typeof figures): number => medianOf(figures[key], (each) => each.rate)
  lines.push(figure(`/reverseip, ${PAGE_ROWS} rows, PostgreSQL`, rate('ours'), 'pages/s'))
  lines.push(figure('  SQLite', rate('sqlite'), 'pages/s'))
  lines.push(figure('  express + pg, json_agg', rate('text'), 'pages/s'))
  lines.push(figure('  PostgreSQL to json_agg', rate('ours') / rate('text'), '×'))
}
