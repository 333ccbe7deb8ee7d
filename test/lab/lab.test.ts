/** Tests a crawl of the lab: every probe gives the observation of its row, and the API responds accordingly. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MACHINES } from '../../lab/hosts.ts'
import { SHOWCASE_DOMAIN } from '../../lab/lab.ts'
import { namesOf, ROWS } from '../../lab/scenarios.ts'
import { ingest } from '../../src/store/ingest.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { makeWorld, NOON } from '../spec/world.ts'
import { Model } from '../store/model.ts'
import { answersOf } from './answers.ts'
import { observationOf } from './rows.ts'
import { describeVisits, visitedNames, visitLab } from './visits.ts'

/** The number of domains that are queried of those that are all alike. */
const ALIKE = 3

const visits = await visitLab()
describeVisits(visits)

const world = await makeWorld()
const model = new Model(NOON)
for (const { state, at, rows, seen } of visits.crawls) {
  await ingest(world.store, [...seen.values()])
  for (const row of rows) {
    for (const name of visitedNames(row))
      model.observe(visits.isSeen(row) ? observationOf(row, name, state, at) : seen.get(name)!)
  }
}

const { token } = await world.account({ plan: 'premium', periods: ['premium:2026-01-01..'] })
const asking = answersOf(world, token, model)

describe('the API responds with what the rows imply', () => {
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

  test('every domain on an address is listed there', async () => {
    for (const address of Object.keys(MACHINES)) await asking.tenants(address as IpAddress)
  })

  test('the example domain has something of everything', () => {
    assert.ok(model.redirects(SHOWCASE_DOMAIN).length >= 5)
    assert.ok(model.lookup(SHOWCASE_DOMAIN)!.reverse_ip_count >= 5)
    assert.equal(model.history(SHOWCASE_DOMAIN, 'A').length, 3)
  })
})
