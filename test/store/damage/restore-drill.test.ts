/** The restore drill: a store is backed up under load, restored elsewhere, and goes on as the store of one moment. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { hashToken, makeToken, newTokenRecord, TOKEN_BYTES } from '../../../src/accounts/token.ts'
import { ingest } from '../../../src/store/ingest.ts'
import type { Store } from '../../../src/store/port/store.ts'
import type { Day } from '../../../src/values/time.ts'
import { folderOf } from '../../cli/run.ts'
import { TESTER } from '../../tester.ts'
import { pause, until } from '../../until.ts'
import { agree } from '../conformance/answers.ts'
import { address, dns, NOW, name, redirecting, seen } from '../conformance/world.ts'
import { Model } from '../model.ts'
import { noPostgres, postgresServer } from '../postgres/server.ts'

const execute = promisify(execFile)

const NAMES = 20
/** A name is observed at most once a minute, and the minutes of the world end at its clock. */
const MAX_BATCHES = 700
const DAY = '2026-11-26' as Day
const TOKEN = makeToken(Buffer.alloc(TOKEN_BYTES, 5))
const ACCOUNT = { email: 'ann@example.com', role: 'user', plan: 'basic', periods: [], addons: [] } as const
const addressOf = (batch: number): string => `192.0.2.${batch % 4}`

/** Every name changes with every batch, so a name shows the last batch that it was in. */
function batchOf(batch: number) {
  return Array.from({ length: NAMES }, (_, n) =>
    seen(
      `n${n}.example`,
      batch,
      dns({ A: [addressOf(batch + n)], TXT: [[`batch ${batch}`]] }),
      redirecting(`t${batch % 3}.example`),
    ),
  )
}

/** Imports batches, and spends units as calls do, until it is ended. */
function load(store: Store, account: number) {
  let [batches, spent, isEnded] = [0, 0, false]
  const done = (async () => {
    const budget = { account, day: DAY, holder: 'a server' }
    while (!isEnded && batches < MAX_BATCHES) {
      await ingest(store, batchOf(batches + 1))
      batches++
      const { granted } = await store.ledger.takeQuota({ ...budget, limit: 100_000, requested: 2 })
      await store.ledger.settleQuota([{ ...budget, spent: granted, returned: 0 }])
      spent += granted
      await pause()
    }
  })()
  const end = (): Promise<void> => {
    isEnded = true
    return done
  }
  return { batches: () => batches, spent: () => spent, end }
}

/** The last batch of a name's newest text; 0 without one. */
async function lastBatch({ facts }: Store): Promise<number> {
  const { TXT } = (await facts.history(name('n0.example'), ['TXT'], null, 1)).byType
  return Number(/\d+/.exec(TXT.states[0]?.records ?? '0')![0])
}

/** A store that is backed up by `backUp`, and restored into the store of the URL to which `restore` resolves. */
type Drilled = { url: string; backUp(): Promise<void>; restore(): Promise<string> }

/** Backs up a store under load, restores it elsewhere, and compares its responses with those of one moment. */
async function drill({ run, withStore }: ReturnType<typeof folderOf>, { url, backUp, restore }: Drilled) {
  const [before, after] = await withStore(async (store) => {
    const { id } = (await store.ledger.as(TESTER).createAccount(ACCOUNT, NOW, newTokenRecord(TOKEN, 'first', null)))!
    await store.ledger.createWatch(9, id, { kind: 'name', value: 'n0.example', threshold: null, types: null }, NOW)
    const loading = load(store, id)
    await until(() => loading.batches() >= 3)
    const first = { batches: loading.batches(), spent: loading.spent() }
    await backUp()
    const last = { batches: loading.batches() + 1, spent: loading.spent() + 2 }
    await loading.end()
    return [first, last]
  }, url)
  const elsewhere = await restore()
  const checked = await run(['check', '--repair'], { env: { DOMAINDEX_STORE: elsewhere } })
  assert.match(checked.stdout, /faults 0, repaired 0, left 0/, checked.stderr)
  await withStore(async (store) => {
    const batches = await lastBatch(store)
    assert.ok(
      batches >= before.batches && batches <= after.batches,
      `${before.batches} <= ${batches} <= ${after.batches}`,
    )
    const model = new Model(NOW)
    for (let batch = 1; batch <= batches; batch++) for (const each of batchOf(batch)) model.observe(each)
    const names = [...batchOf(1).map(({ domain }) => domain), ...[0, 1, 2].map((n) => name(`t${n}.example`))]
    await agree(store, model, { names, addresses: [0, 1, 2, 3].map((n) => address(addressOf(n))), limit: 50 })
    await goesOn(store, batches, [before.spent, after.spent])
  }, elsewhere)
}

test('a store that is backed up under load and restored elsewhere gives the responses of one moment, and goes on', async (t) => {
  const folder = folderOf(t)
  const { run, path, url } = folder
  await drill(folder, {
    url,
    async backUp() {
      const { code, stderr } = await run(['backup', 'copy'])
      assert.deepEqual([code, stderr], [0, ''])
    },
    async restore() {
      const elsewhere = `sqlite:${path('elsewhere/store.db')}`
      assert.equal((await run(['restore', 'copy'], { env: { DOMAINDEX_STORE: elsewhere } })).code, 0)
      return elsewhere
    },
  })
})

test('so does a database, with the commands of docs/postgresql.md', { skip: noPostgres }, async (t) => {
  const place = await (await postgresServer()).database()
  t.after(() => place.drop())
  const from = new URL(place.url)
  const missing = await missingTools(place.url)
  if (missing) return t.skip(missing)
  const folder = folderOf(t)
  const name = from.pathname.slice(1)
  const command = async (program: string): Promise<void> => {
    const line = documentedCommand(program)
      .replaceAll('/backups/2026-11-20', folder.path('copy'))
      .replaceAll(/\bdrill\b/g, `${name}_drill`)
      .replace(/ domaindex$/, ` ${name}`)
    await execute('sh', ['-c', line], { env: { ...process.env, ...environmentOf(from) } })
  }
  await drill(folder, {
    url: place.url,
    backUp: () => command('pg_dump'),
    async restore() {
      await command('createdb')
      const elsewhere = new URL(from)
      elsewhere.pathname = `/${name}_drill`
      return elsewhere.href
    },
  }).finally(() => command('dropdb'))
})

/** What a server of a copy would otherwise share with production, or do a second time. */
const APART = ['PORT', 'ADMIN', 'JOB_TIMES', 'DELIVERIES', 'INBOX', 'FILES', 'ZONES'].map((name) => `DOMAINDEX_${name}`)

test('the documented drills set all that keeps a copy apart from production', () => {
  for (const page of ['operating', 'postgresql']) {
    const text = readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8')
    const drill = text.split('```sh').find((block) => /DOMAINDEX_STORE=\S*\bdrill\b/.test(block))!
    const set = new Map([...drill.matchAll(/(DOMAINDEX_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]))
    const stores = page === 'operating' ? ['DOMAINDEX_STORE', 'DOMAINDEX_LEDGER'] : ['DOMAINDEX_STORE']
    assert.deepEqual([...set.keys()].toSorted(), [...APART, ...stores].toSorted(), page)
    for (const name of ['ADMIN', 'JOB_TIMES', 'DELIVERIES']) assert.equal(set.get(`DOMAINDEX_${name}`), 'off', page)
  }
})

/** Why the tools of PostgreSQL cannot back up this server; null if they can. */
async function missingTools(url: string): Promise<string | null> {
  const { stdout } = await execute('pg_dump', ['--version']).catch(() => ({ stdout: '' }))
  const version = Number(/\) (\d+)/.exec(stdout)?.[1] ?? 0)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('show server_version_num').finally(() => client.end())
  const needed = Math.floor(Number(rows[0].server_version_num) / 10_000)
  return version >= needed
    ? null
    : `pg_dump of PostgreSQL ${needed} or later is needed, this machine has ${version || 'none'}`
}

/** The command of the document about backups that begins with a program. */
function documentedCommand(program: string): string {
  const [, backup = ''] = readFileSync(new URL('../../../docs/postgresql.md', import.meta.url), 'utf8').split(
    '\n## Backup\n',
  )
  return backup.split('\n').find((line) => line.startsWith(`${program} `)) ?? assert.fail(`no command ${program}`)
}

/** The variables by which the tools of PostgreSQL find a server. */
function environmentOf({ hostname, port, username, password, searchParams }: URL): Record<string, string> {
  return {
    PGHOST: searchParams.get('host') ?? hostname,
    PGPORT: port || '5432',
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
  }
}

/** The token, the quota and the watch of the restored store work. `bounds`: of the units that it knows as spent. */
async function goesOn(store: Store, batches: number, [least, most]: [number, number]): Promise<void> {
  const { ledger, events } = store
  const found = await ledger.findToken(hashToken(TOKEN))
  assert.equal(found?.account.email, ACCOUNT.email)
  const account = found!.account.id
  // a lease that was not settled at the moment of the backup may still count as leased, so `most` is the limit of others
  const budget = { account, day: DAY, holder: 'another server', limit: most + 1, requested: 1 }
  assert.equal((await ledger.takeQuota(budget)).granted, 1)
  const used = (await ledger.usedUnits(account, DAY)) - 1
  assert.ok(used >= least && used <= most, `${least} <= ${used} <= ${most}`)
  const [watch] = await ledger.watches(account)
  const last = await events.lastEvent()
  await ingest(store, batchOf(batches + 1))
  const written = await events.events(account, last, 10)
  assert.deepEqual([...new Set(written.map((event) => event.watch))], [watch!.id])
}
