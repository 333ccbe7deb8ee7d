/** Sentences about what the wishes leave behind. */

import assert from 'node:assert/strict'
import { LEDGER_TABLES } from '../../../src/store/bulk.ts'
import { openBulk } from '../../../src/store/open.ts'
import { addDays, type Day } from '../../../src/words/time.ts'
import type { Engine } from './engine.ts'
import { NOW, name, testWithStore } from './world.ts'

const TODAY = '2026-11-20' as Day
const ASKING = LEDGER_TABLES.find(({ name }) => name === 'asking')!

export function wishes(engine: Engine): void {
  testWithStore(
    engine,
    'of an account two days are counted at most, and of a deleted one none',
    async (store, opened) => {
      const { ledger } = store
      const account = { email: 'ann@example.com', role: 'user', plan: 'free', periods: [], addons: [] } as const
      const { id } = (await ledger.createAccount(account, NOW))!
      for (let day = 0; day < 4; day++) {
        const asked = name(`n${day}.example`)
        assert.ok(await store.wishes.ask({ account: id, day: addDays(TODAY, day), name: asked, most: 1 }))
      }
      const counted = async (): Promise<number> => {
        const bulk = await openBulk(opened.url, 'read')
        return bulk.count(ASKING).finally(() => bulk.close())
      }
      assert.equal(await counted(), 2)
      await ledger.deleteAccount(id)
      assert.equal(await counted(), 0)
    },
  )
}
