/** The restore drill: a store is backed up under load, restored elsewhere, and goes on as the store of one moment. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
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
  const { TXT } = await facts.history(name('n0.example'), ['TXT'], null, 1)
  return Number(/\d+/.exec(TXT.states[0]?.records ?? '0')![0])
}

test('a store that is backed up under load and restored elsewhere gives the responses of one moment, and goes on', async (t) => {
  const { run, path, withStore } = folderOf(t)
  const elsewhere = `sqlite:${path('elsewhere/store.db')}`
  const [before, after] = await withStore(async (store) => {
    const { id } = (await store.ledger.as(TESTER).createAccount(ACCOUNT, NOW, newTokenRecord(TOKEN, 'first', null)))!
    await store.ledger.createWatch(9, id, { kind: 'name', value: 'n0.example', threshold: null, types: null }, NOW)
    const loading = load(store, id)
    await until(() => loading.batches() >= 3)
    const first = { batches: loading.batches(), spent: loading.spent() }
    const backedUp = await run(['backup', 'copy'])
    const last = { batches: loading.batches() + 1, spent: loading.spent() + 2 }
    await loading.end()
    assert.deepEqual([backedUp.code, backedUp.stderr], [0, ''])
    return [first, last]
  })
  const env = { DOMAINDEX_STORE: elsewhere }
  assert.equal((await run(['restore', 'copy'], { env })).code, 0)
  assert.match((await run(['check', '--repair'], { env })).stdout, /faults 0, repaired 0, left 0/)
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
})

/** The token, the quota and the watch of the restored store work. `bounds`: of the units that it knows as spent. */
async function goesOn(store: Store, batches: number, [least, most]: [number, number]): Promise<void> {
  const { ledger, events } = store
  const found = await ledger.findToken(hashToken(TOKEN))
  assert.equal(found?.account.email, ACCOUNT.email)
  const account = found!.account.id
  const used = await ledger.usedUnits(account, DAY)
  assert.ok(used >= least && used <= most, `${least} <= ${used} <= ${most}`)
  await ledger.takeQuota({ account, day: DAY, holder: 'another server', limit: used + 1, requested: 1 })
  assert.equal(await ledger.usedUnits(account, DAY), used + 1)
  const [watch] = await ledger.watches(account)
  const last = await events.lastEvent()
  await ingest(store, batchOf(batches + 1))
  const written = await events.events(account, last, 10)
  assert.deepEqual([...new Set(written.map((event) => event.watch))], [watch!.id])
}
