/** The crawler meets the lab: every visit gives what its row says, and the API answers what the rows imply. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SHOWN, startLab } from '../../lab/lab.ts'
import { MACHINES } from '../../lab/machines.ts'
import { namesOf, ROWS } from '../../lab/scenarios.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { ingest } from '../../src/store/ingest.ts'
import type { Address } from '../../src/words/address.ts'
import type { Name } from '../../src/words/name.ts'
import { makeWorld, NOON } from '../spec/world.ts'
import { Model } from '../store/model.ts'
import { answersOf } from './answers.ts'
import { crawl } from './crawls.ts'
import { observationOf } from './rows.ts'

/** So many of domains that are all alike are asked for. */
const ALIKE = 3

const changing = ROWS.filter((row) => namesOf(row).some((name) => row.states(name).length > 1))

/** Every domain in both states of the lab; in the end those that change come back to the first. */
const CRAWLS = [
  { state: 0, at: NOON - 172_800, rows: ROWS },
  { state: 1, at: NOON - 86_400, rows: ROWS },
  { state: 0, at: NOON - 3600, rows: changing },
]

const lab = await startLab()
const seen: Map<Name, Observation>[] = []
for (const { at, rows } of CRAWLS) {
  seen.push(await crawl(lab, rows.flatMap(namesOf), at))
  lab.change()
}
await lab.close()

/** Without IPv6 on this computer its row says what would be seen on another. */
const SIXTH_ONLY = 'ipv6-only.example'
const hasSixth = lab.stands.some(({ address }) => address === '::1')

describe('a visit gives what its row says', () => {
  for (const row of ROWS) {
    const skip = !hasSixth && row.name === SIXTH_ONLY && 'this computer has no IPv6'
    test(`${row.name}: ${row.shows}`, { skip }, () => {
      for (const [index, { state, at, rows }] of CRAWLS.entries()) {
        for (const name of rows.includes(row) ? namesOf(row) : []) {
          assert.deepEqual(seen[index]!.get(name), observationOf(row, name, state, at), `visit ${index + 1} of ${name}`)
        }
      }
    })
  }
})

const world = await makeWorld()
const model = new Model(NOON)
for (const [index, { state, at, rows }] of CRAWLS.entries()) {
  await ingest(world.store, [...seen[index]!.values()])
  for (const row of rows) {
    const isSeen = hasSixth || row.name !== SIXTH_ONLY
    for (const name of namesOf(row))
      model.observe(isSeen ? observationOf(row, name, state, at) : seen[index]!.get(name)!)
  }
}

describe('the API answers what the rows imply', async () => {
  const { token } = await world.account({ plan: 'premium', periods: ['premium:2026-01-01..'] })
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
    assert.equal(model.history(SHOWN, 'A').length, 3)
  })
})
