/** The events of all names, for tests of imports that are killed. */

import type { Store } from '../../../src/store/port/store.ts'
import { TESTER } from '../../tester.ts'

/** An account watches all names. */
export async function watchAll({ ledger }: Store): Promise<void> {
  const account = { email: 'a@example.com', role: 'user' as const, plan: 'free' as const, periods: [], addons: [] }
  const { id } = (await ledger.as(TESTER).createAccount(account, 0))!
  await ledger.createWatch(1, id, { kind: 'suffix', value: 'example', threshold: null, types: null }, 0)
}

/** The events of the first account without their numbers and times, sorted. */
export async function eventsOf({ events }: Store): Promise<string[]> {
  const found: string[] = []
  for (let after = 0; ; ) {
    const page = await events.events(1, after, 1_000)
    if (page.length === 0) return found.sort()
    found.push(...page.map(({ name, observed_at, differences }) => `${name} ${observed_at} ${differences}`))
    after = page.at(-1)!.number
  }
}
