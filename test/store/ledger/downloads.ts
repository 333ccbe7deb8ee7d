/** Files that are paid for: one unit an account, file and day, whoever asks and however often. */

import assert from 'node:assert/strict'
import type { Ledger, Payment, Purchase } from '../../../src/store/ledger.ts'
import type { Day } from '../../../src/words/time.ts'
import { TESTER } from '../../tester.ts'
import { type LedgerEngine, made, NOW, on, TODAY } from './engine.ts'

const ACCOUNT = 7
const TOMORROW = '2026-11-21' as Day
const FILE = '2026-11-19.txt.gz'

const purchase = (given: Partial<Purchase> = {}): Purchase => {
  return { account: ACCOUNT, day: TODAY, limit: 100, holder: 'one', file: FILE, ...given }
}

export function downloads(engine: LedgerEngine): void {
  on(
    engine,
    'a file costs one call per account and UTC day, however often it is fetched',
    async ({ ledger, another }) => {
      const other = await another()
      assert.equal(await ledger.isPaid(ACCOUNT, TODAY, FILE), false)
      assert.deepEqual(await ledger.pay(purchase()), { is: 'spent', used: 1 })
      assert.deepEqual(await ledger.pay(purchase()), { is: 'paid', used: 1 })
      assert.deepEqual(await other.pay(purchase({ holder: 'two' })), { is: 'paid', used: 1 })
      assert.equal(await other.isPaid(ACCOUNT, TODAY, FILE), true)
      assert.equal(await ledger.used(ACCOUNT, TODAY), 1)
    },
  )

  on(engine, 'another file, another account and another day each cost one', async ({ ledger }) => {
    await ledger.pay(purchase())
    assert.deepEqual(await ledger.pay(purchase({ file: 'domains-2026-11-19.txt.gz' })), { is: 'spent', used: 2 })
    assert.deepEqual(await ledger.pay(purchase({ account: 8 })), { is: 'spent', used: 1 })
    assert.deepEqual(await ledger.pay(purchase({ day: TOMORROW })), { is: 'spent', used: 1 })
    assert.equal(await ledger.isPaid(ACCOUNT, TODAY, FILE), true)
    assert.equal(await ledger.isPaid(8, TOMORROW, FILE), false)
    await ledger.pay(purchase({ day: '2026-11-25' as Day }))
    assert.equal(await ledger.isPaid(ACCOUNT, TOMORROW, FILE), false)
  })

  on(engine, 'with nothing left a file that was paid for is still had, and no other', async ({ ledger }) => {
    await ledger.pay(purchase({ limit: 1 }))
    assert.deepEqual(await ledger.pay(purchase({ limit: 1 })), { is: 'paid', used: 1 })
    assert.deepEqual(await ledger.pay(purchase({ limit: 1, file: 'another' })), { is: 'refused', used: 1 })
    assert.equal(await ledger.isPaid(ACCOUNT, TODAY, 'another'), false)
  })

  on(engine, 'a file waits for units that others hold unused', async ({ ledger }) => {
    const { granted } = await ledger.take({ ...purchase({ limit: 25_000 }), want: 64, holder: 'two' })
    assert.deepEqual(await ledger.pay(purchase({ limit: granted })), { is: 'wait', used: 0 })
    const settlement = { account: ACCOUNT, day: TODAY, holder: 'two', spent: granted - 1, returned: 1 }
    await ledger.settle([settlement])
    assert.deepEqual(await ledger.pay(purchase({ limit: granted })), { is: 'spent', used: granted })
  })

  on(
    engine,
    'of many who fetch the same files at once in several processes, one a file pays',
    async ({ ledger, another }) => {
      const handles = [ledger, await another(), await another()]
      const files = ['a', 'b', 'c', 'd', 'e']
      const limit = 4
      const asked = Array.from({ length: 90 }, (_, index) =>
        askFor(handles[index % 3]!, files[index % 5]!, limit, index),
      )
      const outcomes = await Promise.all(asked)
      assert.equal(outcomes.filter(({ is }) => is === 'spent').length, limit)
      assert.equal(await ledger.used(ACCOUNT, TODAY), limit)
      const paid = await Promise.all(files.map((file) => ledger.isPaid(ACCOUNT, TODAY, file)))
      assert.equal(paid.filter(Boolean).length, limit)
      for (const [index, { is }] of outcomes.entries()) assert.equal(is !== 'refused', paid[index % 5])
    },
  )

  on(engine, 'what a deleted account paid for is forgotten', async ({ ledger }) => {
    const { id } = await made(ledger)
    await ledger.pay(purchase({ account: id }))
    await ledger.as(TESTER).deleteAccount(id)
    assert.equal(await ledger.isPaid(id, TODAY, FILE), false)
  })

  on(engine, 'whoever pays is heard of', async ({ ledger, clock }) => {
    await ledger.beat('two', clock.now)
    await ledger.pay(purchase())
    assert.equal(await ledger.beat('two', NOW), 2)
  })
}

const askFor = (ledger: Ledger, file: string, limit: number, index: number): Promise<Payment> =>
  ledger.pay(purchase({ file, limit, holder: `process ${index % 3}` }))
