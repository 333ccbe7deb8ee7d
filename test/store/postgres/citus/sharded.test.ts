/**
 * Writers, readers and the indexer with eight shards, as with Citus: they send each batch and each read shard by shard, and
 * everything is stored and read as with one shard. Without Citus the server has only one, so its clients alone believe in
 * eight.
 */

import { suite } from 'node:test'
import type { Store } from '../../../../src/store/port/store.ts'
import { openDatabase } from '../../../../src/store/postgres/database/database.ts'
import { postgresFacts } from '../../../../src/store/postgres/facts/facts.ts'
import { postgresObservations } from '../../../../src/store/postgres/facts/observations.ts'
import { postgresListing } from '../../../../src/store/postgres/listing/listing.ts'
import { postgresMaintenance } from '../../../../src/store/postgres/maintenance/maintenance.ts'
import { postgresSchedule } from '../../../../src/store/postgres/schedule/schedule.ts'
import { postgresIndexer } from '../../../../src/store/postgres/similar/indexer.ts'
import type { Clock, Engine } from '../../conformance/engine.ts'
import { histories } from '../../conformance/histories.ts'
import { upkeep } from '../../conformance/maintenance.ts'
import { listing } from '../../conformance/reading/listing.ts'
import { lists } from '../../conformance/reading/lists.ts'
import { looking } from '../../conformance/reading/lookups.ts'
import { profiles } from '../../conformance/reading/profiles.ts'
import { states } from '../../conformance/reading/states.ts'
import { schedule } from '../../conformance/schedule/schedule.ts'
import { dropping } from '../../conformance/similar/dropping.ts'
import { filings } from '../../conformance/similar/filings.ts'
import { forgetting } from '../../conformance/writing/forgetting.ts'
import { retargeting } from '../../conformance/writing/retargeting.ts'
import { gate } from '../../conformance/writing/version-check.ts'
import { writing } from '../../conformance/writing/writing.ts'
import { openedInReusedPlaces } from '../places.ts'
import { noPostgres } from '../server.ts'
import { withShards } from './artificial-shards.ts'

async function withEightShards(store: Store, url: string, clock: Clock): Promise<Store> {
  const now = () => clock.now
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  const sharded = database.hasCitus ? database : withShards(database, 8)
  return {
    ...store,
    observations: postgresObservations(sharded),
    similarIndex: postgresIndexer(sharded),
    facts: postgresFacts(sharded),
    listing: postgresListing({ ...sharded, now: async () => now() }),
    schedule: postgresSchedule(sharded, now),
    maintenance: postgresMaintenance(sharded),
    async close() {
      await store.close()
      await database.close()
    },
  }
}

suite('PostgreSQL with eight shards', { skip: noPostgres }, () => {
  const open = openedInReusedPlaces((server) => server.tables(), withEightShards)
  // The rules are those of the engine with one shard. An error in a shard shows in almost every history.
  const engine: Engine = { name: 'eight shards', damages: [], runs: 6, open }
  for (const part of [
    ...[writing, gate, forgetting, retargeting, dropping, filings],
    ...[looking, lists, profiles, states, schedule, listing, upkeep, histories],
  ])
    part(engine)
})
