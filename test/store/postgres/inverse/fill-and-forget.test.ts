/**
 * Filling the inverse index while a name is forgotten, on PostgreSQL. A lock of the test stops the filling between its
 * read and its write, and nothing sleeps.
 */

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import pg from 'pg'
import { openStore } from '../../../../src/store/open.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { PART_VALUES, partitionOfName } from '../../../../src/store/postgres/database/partition.ts'
import { CERTIFICATES } from '../../conformance/arbitraries.ts'
import { inverseHold, namesInBlocks } from '../../conformance/inverse/index-runs.ts'
import { dns, faults, ingestAll, NOW, name, seen, web } from '../../conformance/world.ts'
import { waitingSql } from '../citus/waiting.ts'
import { noPostgres, postgresServer } from '../server.ts'

const FORGOTTEN = name('a.example')
const KEPT = name('kept.example')
const CERTIFICATE = CERTIFICATES[0]!

/** What is filled in, and the row of `metadata` before the slice with the forgotten name. */
const FILLS = [
  ['the certificates of a copied store', 'certificate_fill', [PART_VALUES[0], '']],
  ['the records of an older store', 'inverse_fill', [PART_VALUES.indexOf(partitionOfName(FORGOTTEN)), 0]],
  ['the known names of an older store', 'name_fill', [PART_VALUES.indexOf(partitionOfName(FORGOTTEN)), -1, '']],
] as const

suite('filling and forgetting at once on PostgreSQL', { skip: noPostgres, concurrency: 2 }, () => {
  for (const [what, key, position] of FILLS) {
    test(`a name that is forgotten while ${what} are filled in leaves nothing in the index`, async (t) => {
      const place = await (await postgresServer()).tables()
      const open = (): Promise<Store> =>
        openStore(place.url, { access: 'write', ledger: 'own', secret: null, now: () => NOW, pool: 2 })
      const [filler, forgetter] = [await open(), await open()]
      const hand = new pg.Client({ connectionString: place.url })
      await hand.connect()
      t.after(async () => {
        await hand.end()
        for (const store of [filler, forgetter]) await store.close()
        await place.drop()
      })
      await ingestAll(filler, [
        seen(FORGOTTEN, 1, dns({ A: ['192.0.2.1'] }), { ...web({ ssl: 'valid' }), certificate: CERTIFICATE }),
        seen(KEPT, 1, dns({ A: ['192.0.2.1'] })),
      ])
      await hand.query('insert into metadata (name, value) values ($1, $2)', [key, JSON.stringify(position)])
      const hold = await inverseHold(filler)
      await hand.query('begin')
      await hand.query('lock table inverse_run in share mode')
      const filled = filler.inverseIndex.fill(hold, 500)
      await until(hand, 1, () => false)
      let isForgotten = false
      const forgotten = forgetter.observations.forget(FORGOTTEN).then(() => {
        isForgotten = true
      })
      await until(hand, 2, () => isForgotten)
      await hand.query('commit')
      assert.notEqual(await filled, null)
      await forgotten
      const names = await namesInBlocks(forgetter)
      assert.deepEqual([names.has(FORGOTTEN), names.has(KEPT)], [false, true])
      for (const host of CERTIFICATE.names.map((each) => name(each.replace('*.', ''))))
        assert.deepEqual(await forgetter.inverse.namedHosts(host, null, 9), { hosts: [], position: null })
      await hand.query('delete from metadata where name = $1', [key]) // the other partitions have nothing to fill in
      assert.deepEqual(await faults(forgetter), [])
    })
  }
})

/** Resolves when so many transactions wait for a lock, or `isOver`. */
async function until(hand: pg.Client, transactions: number, isOver: () => boolean): Promise<void> {
  const sql = await waitingSql(hand)
  while (!isOver() && (await hand.query(sql)).rowCount! < transactions);
}
