/**
 * Writers and the indexer with eight shards, as with Citus: they send each batch shard by shard, and everything is stored
 * as with one shard. Without Citus the server has only one, so the writers alone believe in eight.
 */

import { suite } from 'node:test'
import type { Store } from '../../../src/store/port/store.ts'
import { openDatabase } from '../../../src/store/postgres/database/database.ts'
import { PART_VALUES } from '../../../src/store/postgres/database/partition.ts'
import { shardsOf } from '../../../src/store/postgres/database/shards.ts'
import { postgresObservations } from '../../../src/store/postgres/facts/observations.ts'
import { postgresIndexer } from '../../../src/store/postgres/similar/indexer.ts'
import type { Engine } from '../conformance/engine.ts'
import { openedAt } from '../conformance/opened-store.ts'
import { dropping } from '../conformance/similar/dropping.ts'
import { filings } from '../conformance/similar/filings.ts'
import { forgetting } from '../conformance/writing/forgetting.ts'
import { retargeting } from '../conformance/writing/retargeting.ts'
import { gate } from '../conformance/writing/version-check.ts'
import { writing } from '../conformance/writing/writing.ts'
import { noPostgres, postgresServer } from './server.ts'

/** As Citus does, mixes the partitions: neighbours are in different shards. */
const EIGHT_SHARDS = shardsOf(
  Array.from({ length: 8 }, (_, shard) => PART_VALUES.filter((_, position) => position % 8 === shard)),
)

async function withEightShards(store: Store, url: string): Promise<Store> {
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  const sharded = database.hasCitus ? database : { ...database, shards: async () => EIGHT_SHARDS }
  return {
    ...store,
    observations: postgresObservations(sharded),
    similarIndex: postgresIndexer(sharded),
    async close() {
      await store.close()
      await database.close()
    },
  }
}

const engine: Engine = {
  name: 'eight shards',
  damages: [],
  async open(clock) {
    const { url, drop } = await (await postgresServer()).schema()
    return openedAt(url, { now: () => clock.now, pool: 2 }, drop, (store) => withEightShards(store, url))
  },
}

suite('PostgreSQL with writers by shard', { skip: noPostgres }, () => {
  for (const part of [writing, gate, forgetting, retargeting, dropping, filings]) part(engine)
})
