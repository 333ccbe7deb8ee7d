/** The end of a history: whether each unit is answered, still there, or was held by a process that died. */

import assert from 'node:assert/strict'
import pg from 'pg'
import type { Ledger } from '../../src/store/port/ledger.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { Day } from '../../src/values/time.ts'
import { checkAll } from '../store/check-all.ts'
import { CRAWLED_NAMES } from './crawled-names.ts'
import { ACCOUNT } from './roles.ts'
import type { Simulation } from './simulation.ts'

const LAST = 'the last process'

/** Asserts everything that holds after a history. */
export async function assertOutcome(simulation: Simulation, url: string): Promise<void> {
  assert.deepEqual(simulation.violations, [])
  const store = await simulation.open()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await expireTheDead(simulation, store)
    for (const day of simulation.books.answered.keys()) await assertBudget(simulation, store, client, day)
    const states = await store.observations.crawlStates(CRAWLED_NAMES)
    assert.ok(
      states.every(({ clocks }) => clocks[0]! > 0),
      'a name was never probed',
    )
    assert.deepEqual((await checkAll(store)).faults, [])
  } finally {
    await client.end()
    await store.close()
  }
}

/** Lets the token leases of processes that died expire. */
async function expireTheDead(simulation: Simulation, { ledger }: Store): Promise<void> {
  for (let second = 0; second < 4; second++) {
    await simulation.clock.run(simulation.clock.monotonicMs() + 1_000)
    await ledger.heartbeat(LAST, simulation.now())
  }
}

async function assertBudget(
  { books, dead, hasUncertainWrite }: Simulation,
  { ledger }: Store,
  client: pg.Client,
  day: Day,
): Promise<void> {
  const { limit } = books
  const leases = await unitsByHolder(client, day)
  const held = leases.filter(({ holder }) => !dead.has(holder))
  assert.deepEqual(held, [], `units of ${day} are leased to processes that returned all of theirs`)
  const lost = leases.reduce((sum, { units }) => sum + units, 0) + (books.unanswered.get(day) ?? 0)
  const answered = books.answered.get(day)!
  const rest = await spendRest(ledger, day, limit)
  assert.equal(await ledger.usedUnits(ACCOUNT, day), limit)
  const text = `${answered} answered, ${rest} left, at most ${lost} lost with processes that died, limit ${limit} on ${day}`
  assert.ok(answered + rest <= limit, text)
  if (!hasUncertainWrite) assert.ok(answered + rest + lost >= limit, text)
}

/** Spends what is left of a budget. Returns the number of units. */
async function spendRest(ledger: Ledger, day: Day, limit: number): Promise<number> {
  const request = { account: ACCOUNT, day, limit, requested: 64, holder: LAST }
  for (let rest = 0; ; ) {
    const { granted } = await ledger.takeQuota(request)
    if (granted === 0) return rest
    rest += granted
    if (granted > 1) await ledger.settleQuota([{ account: ACCOUNT, day, holder: LAST, spent: granted, returned: 0 }])
  }
}

/** The leases of a day, expired ones too. */
async function unitsByHolder(client: pg.Client, day: Day): Promise<{ holder: string; units: number }[]> {
  const text = `select holder, units from token_lease where day = $1
    union all select holder, units from expired_lease where day = $1 order by 1`
  return (await client.query(text, [day])).rows
}
