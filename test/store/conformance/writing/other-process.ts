/** The thread of another writer: applies its history batch by batch to the store at a URL. */

import { parentPort, workerData } from 'node:worker_threads'
import type { Observation } from '../../../../src/observe/observation.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import { openStore } from '../../../../src/store/open.ts'
import type { Instant } from '../../../../src/values/time.ts'

/** The task of the thread. It sends 'begin' when it starts. */
export type Task = { url: string; now: Instant; batches: Observation[][] }

const { url, now, batches } = workerData as Task
const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => now })
parentPort?.postMessage('begin')
for (const batch of batches) await ingest(store, batch)
await store.close()
