/** What is stored does not depend on the order in which a join returns the rows of a batch. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ingest } from '../../../../src/store/ingest.ts'
import { openStore } from '../../../../src/store/open.ts'
import { checkAll } from '../../check-all.ts'
import { dns, NOW, seen } from '../../conformance/world.ts'
import { noPostgres, postgresServer } from '../server.ts'

const NAMES = 300
/** Plans whose joins reorder rows, as those of Citus may. */
const PLANS = ['-cenable_nestloop=off -cenable_hashjoin=on', '-cenable_nestloop=off -cenable_mergejoin=on']

test('a name that returns to an address within a batch keeps the first date on it, whatever the plan', {
  skip: noPostgres,
}, async (t) => {
  for (const plan of PLANS) {
    const { url, drop } = await (await postgresServer()).tables()
    t.after(drop)
    const place = new URL(url)
    place.searchParams.set('options', `${place.searchParams.get('options')} ${plan}`)
    const store = await openStore(place.href, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
    const names = Array.from({ length: NAMES }, (_, n) => `n${n}.example`)
    const moves = ['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.2', '192.0.2.1']
    const batch = names.flatMap((name) => moves.map((address, at) => seen(name, at, dns({ A: [address] }))))
    await ingest(store, batch)
    const { faults } = await checkAll(store).finally(() => store.close())
    assert.deepEqual(faults, [], plan)
  }
})
