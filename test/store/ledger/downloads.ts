/** Paid files: one unit per account, file and day, for any caller and any number of downloads. */

import assert from 'node:assert/strict'
import type { FilePayment } from '../../../src/accounts/budget-arithmetic.ts'
import type { FilePurchase, Ledger } from '../../../src/store/port/ledger.ts'
import type { Day } from '../../../src/values/time.ts'
import { TESTER } from '../../tester.ts'
import { type LedgerEngine, made, NOW, on, TODAY } from './engine.ts'

const ACCOUNT = 7
const TOMORROW = '2026-11-21' as Day
const FILE = '2026-11-19.txt.gz'

const purchase = (given: Partial<FilePurchase> = {}): FilePurchase => {
  return { account: ACCOUNT, day: TODAY, limit: 100, holder: 'one', file: FILE, ...given }
}

export function downloads(engine: LedgerEngine): void {
  on(
    engine,
    'a file costs one call per account and UTC day, however often it is downloaded',
    async ({ ledger, another }) => {
      const other = await another()
      assert.equal(await ledger.isFilePaid(ACCOUNT, TODAY, FILE), false)
      assert.deepEqual(await ledger.payForFile(purchase()), { outcome: 'charged', used: 1 })
      assert.deepEqual(await ledger.payForFile(purchase()), { outcome: 'already_paid', used: 1 })
      assert.deepEqual(await other.payForFile(purchase({ holder: 'two' })), { outcome: 'already_paid', used: 1 })
      assert.equal(await other.isFilePaid(ACCOUNT, TODAY, FILE), true)
      assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 1)
    },
  )

  on(engine, 'another file, another account and another day each cost one', async ({ ledger }) => {
    await ledger.payForFile(purchase())
    assert.deepEqual(await ledger.payForFile(purchase({ file: 'domains-2026-11-19.txt.gz' })), {
      outcome: 'charged',
      used: 2,
    })
    assert.deepEqual(await ledger.payForFile(purchase({ account: 8 })), { outcome: 'charged', used: 1 })
    assert.deepEqual(await ledger.payForFile(purchase({ day: TOMORROW })), { outcome: 'charged', used: 1 })
    assert.equal(await ledger.isFilePaid(ACCOUNT, TODAY, FILE), true)
    assert.equal(await ledger.isFilePaid(8, TOMORROW, FILE), false)
    await ledger.payForFile(purchase({ day: '2026-11-25' as Day }))
    assert.equal(await ledger.isFilePaid(ACCOUNT, TOMORROW, FILE), false)
  })

  on(engine, 'without units left, a paid file can still be downloaded, and no other', async ({ ledger }) => {
    await ledger.payForFile(purchase({ limit: 1 }))
    assert.deepEqual(await ledger.payForFile(purchase({ limit: 1 })), { outcome: 'already_paid', used: 1 })
    assert.deepEqual(await ledger.payForFile(purchase({ limit: 1, file: 'another' })), {
      outcome: 'limit_reached',
      used: 1,
    })
    assert.equal(await ledger.isFilePaid(ACCOUNT, TODAY, 'another'), false)
  })

  on(engine, 'a file waits for units that others hold unused', async ({ ledger }) => {
    const { granted } = await ledger.takeQuota({ ...purchase({ limit: 25_000 }), requested: 64, holder: 'two' })
    assert.deepEqual(await ledger.payForFile(purchase({ limit: granted })), { outcome: 'retry_later', used: 0 })
    const settlement = { account: ACCOUNT, day: TODAY, holder: 'two', spent: granted - 1, returned: 1 }
    await ledger.settleQuota([settlement])
    assert.deepEqual(await ledger.payForFile(purchase({ limit: granted })), { outcome: 'charged', used: granted })
  })

  on(
    engine,
    'of many concurrent downloads of the same files in several processes, one per file pays',
    async ({ ledger, another }) => {
      const handles = [ledger, await another(), await another()]
      const files = ['a', 'b', 'c', 'd', 'e']
      const limit = 4
      const asked = Array.from({ length: 90 }, (_, index) =>
        askFor(handles[index % 3]!, files[index % 5]!, limit, index),
      )
      const outcomes = await Promise.all(asked)
      assert.equal(outcomes.filter(({ outcome: is }) => is === 'charged').length, limit)
      assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), limit)
      const paid = await Promise.all(files.map((file) => ledger.isFilePaid(ACCOUNT, TODAY, file)))
      assert.equal(paid.filter(Boolean).length, limit)
      for (const [index, { outcome: is }] of outcomes.entries()) assert.equal(is !== 'limit_reached', paid[index % 5])
    },
  )

  on(engine, 'the payments of a deleted account are forgotten', async ({ ledger }) => {
    const { id } = await made(ledger)
    await ledger.payForFile(purchase({ account: id }))
    await ledger.as(TESTER).deleteAccount(id)
    assert.equal(await ledger.isFilePaid(id, TODAY, FILE), false)
  })

  on(engine, 'a payment is a heartbeat', async ({ ledger, clock }) => {
    await ledger.heartbeat('two', clock.now)
    await ledger.payForFile(purchase())
    assert.equal(await ledger.heartbeat('two', NOW), 2)
  })

  on(engine, 'a payment for a file that is paid for already is a heartbeat', async ({ ledger, clock }) => {
    await ledger.payForFile(purchase())
    clock.now += 2
    await ledger.heartbeat('two', clock.now)
    await ledger.payForFile(purchase())
    clock.now += 1
    assert.equal(await ledger.heartbeat('two', clock.now), 2)
  })
}

const askFor = (ledger: Ledger, file: string, limit: number, index: number): Promise<FilePayment> =>
  ledger.payForFile(purchase({ file, limit, holder: `process ${index % 3}` }))
