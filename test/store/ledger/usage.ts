/** Usage: calls by token, endpoint and day. */

import assert from 'node:assert/strict'
import type { UsageNote } from '../../../src/store/port/ledger.ts'
import type { Day } from '../../../src/values/time.ts'
import { type LedgerEngine, made, NOW, on } from './engine.ts'

const DAYS = ['2026-11-18', '2026-11-19', '2026-11-20'] as Day[]

export function usage(engine: LedgerEngine): void {
  on(engine, 'usage adds up by day, endpoint and token', async ({ ledger, another }) => {
    const other = await another()
    const { id } = await made(ledger)
    const note = (day: Day, endpoint: string, token: number, calls: number): UsageNote => {
      return { account: id, token, endpoint, day, calls, lastCall: NOW }
    }
    await ledger.recordUsage([
      note(DAYS[0]!, 'lookup', 1, 5),
      note(DAYS[1]!, 'lookup', 1, 2),
      note(DAYS[2]!, 'redirect', 1, 1),
    ])
    await other.recordUsage([
      note(DAYS[2]!, 'lookup', 1, 3),
      note(DAYS[2]!, 'lookup', 2, 4),
      note(DAYS[2]!, 'lookup', 1, 1),
    ])
    const first = { day: DAYS[0], endpoint: 'lookup', token: 1, calls: 5 }
    const second = { day: DAYS[1], endpoint: 'lookup', token: 1, calls: 2 }
    const third = [
      { day: DAYS[2], endpoint: 'lookup', token: 1, calls: 4 },
      { day: DAYS[2], endpoint: 'lookup', token: 2, calls: 4 },
      { day: DAYS[2], endpoint: 'redirect', token: 1, calls: 1 },
    ]
    assert.deepEqual(await ledger.usage(id, null, null), [first, second, ...third])
    assert.deepEqual(await ledger.usage(id, DAYS[1]!, null), [second, ...third])
    assert.deepEqual(await ledger.usage(id, null, DAYS[1]!), [first, second])
    assert.deepEqual(await ledger.usage(id, DAYS[1]!, DAYS[1]!), [second])
    assert.deepEqual(await other.usage(id + 1, null, null), [])
  })
}
