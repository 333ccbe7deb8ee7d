/** The crawler meets the lab twice: every visit gives what its row says, and the API answers what the rows imply. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SHOWN, startLab } from '../../lab/lab.ts'
import { MACHINES } from '../../lab/machines.ts'
import { namesOf, ROWS } from '../../lab/scenarios.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { ingest } from '../../src/store/ingest.ts'
import type { Address } from '../../src/words/address.ts'
import type { Name } from '../../src/words/name.ts'
import type { Instant } from '../../src/words/time.ts'
import { makeWorld, NOON } from '../spec/world.ts'
import { Model } from '../store/model.ts'
import { answersOf } from './answers.ts'
import { crawl } from './crawls.ts'
import { observationOf } from './rows.ts'

const TIMES: readonly Instant[] = [NOON - 86_400, NOON - 3600]
/** So many of domains that are all alike are asked for. */
const ALIKE = 3

const lab = await startLab()
const first = await crawl(lab, TIMES[0]!)
lab.change()
const crawls: Map<Name, Observation>[] = [first, await crawl(lab, TIMES[1]!)]
await lab.close()

const world = await makeWorld()
for (const seen of crawls) await ingest(world.store, [...seen.values()])
const { token } = await world.account({ plan: 'premium', periods: ['premium:2026-01-01..'] })

/** Rows that need an address that this computer does not have. */
const cannot = (name: string): string | false => {
  const has = lab.stands.some(({ address }) => address === '::1')
  return !has && name === 'ipv6-only.example' && 'no IPv6 on this computer'
}

describe('a visit gives what its row says', () => {
  for (const row of ROWS) {
    test(`${row.name}: ${row.shows}`, (t) => {
      const why = cannot(row.name)
      if (why) return t.skip(why)
      for (const [state, seen] of crawls.entries()) {
        for (const name of namesOf(row)) {
          assert.deepEqual(seen.get(name), observationOf(row, name, state, TIMES[state]!), `at visit ${state + 1}`)
        }
      }
    })
  }
})

describe('the API answers what the rows imply', () => {
  const model = new Model(NOON)
  for (const [state, at] of TIMES.entries()) {
    for (const row of ROWS) for (const name of namesOf(row)) model.observe(observationOf(row, name, state, at))
  }
  const asking = answersOf(world, token, model)

  for (const row of ROWS) {
    test(row.name, async () => {
      for (const name of namesOf(row).slice(0, ALIKE)) {
        await asking.lookup(name)
        await asking.redirect(name)
        await asking.neighbours(name)
        await asking.dnshistory(name)
      }
    })
  }

  test('everybody at an address is listed there', async () => {
    for (const address of Object.keys(MACHINES)) await asking.tenants(address as Address)
  })

  test('the domain that is shown has something of everything', () => {
    assert.ok(model.redirects(SHOWN).length >= 5)
    assert.ok(model.lookup(SHOWN)!.reverse_ip_count >= 5)
    assert.ok(model.history(SHOWN, 'A').length === 2)
  })
})
