/** PostgreSQL dies while observations are imported. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observation } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import type { CheckFault, Store } from '../../src/store/port/store.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { hosted } from '../spec/observations.ts'
import { until } from '../until.ts'
import { noPostgres, postgresServer } from './postgres-server.ts'

const CROWDED = '192.0.2.1' as IpAddress
const BATCH = 20
const notOurs = noPostgres || (process.env.DOMAINDEX_TEST_POSTGRES ? 'the server is not ours to restart' : false)

if (!notOurs) await postgresServer() // for the whole file

/** New names, all on one address and those of a batch on another. */
function batchOf(importer: number, batch: number): Observation[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const addresses = [CROWDED, `198.51.100.${batch % 250}`]
    return parseObservation(JSON.stringify(hosted(`n${batch}-${index}.i${importer}.example`, addresses))) as Observation
  })
}

async function faultsOf({ maintenance: archive }: Store): Promise<CheckFault[]> {
  const faults: CheckFault[] = []
  let place: string | null = null
  do {
    const slice: Awaited<ReturnType<typeof archive.check>> = await archive.check(place)
    faults.push(...slice.faults)
    place = slice.next
  } while (place !== null)
  return faults
}

test('what was acknowledged is there, once, and the counters fit', { skip: notOurs }, async (t) => {
  const server = await postgresServer()
  const { url, drop } = await server.schema()
  const place = new URL(url)
  place.searchParams.set('options', `${place.searchParams.get('options')} -csynchronous_commit=on`)
  const open = () => openStore(place.href, { access: 'write', ledger: 'own', secret: null })
  const stores = [await open(), await open()]
  t.after(async () => {
    for (const store of stores) await store.close()
    await drop()
  })
  const outcomes: string[] = []
  let last = Number.POSITIVE_INFINITY
  const imports = stores.map(async (store, importer) => {
    for (let batch = 0; outcomes.length < last; batch++)
      outcomes.push(...(await ingest(store, batchOf(importer, batch))))
  })
  await until(() => outcomes.length >= 10 * BATCH)
  await server.restart()
  last = outcomes.length + 10 * BATCH
  await Promise.all(imports)
  assert.deepEqual(new Set(outcomes), new Set(['applied']))
  const { count } = await stores[0]!.facts.neighbours([CROWDED], null, null, 1_000_000)
  assert.equal(count, outcomes.length)
  assert.deepEqual(await faultsOf(stores[0]!), [])
})
