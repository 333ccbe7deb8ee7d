/**
 * A process that imports a file of observations and prints after each batch how many are written. Arguments: store URL,
 * file.
 */

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'

const BATCH = 200
const [, , url, file] = process.argv

const store = await openStore(url!, { access: 'write', ledger: 'own', secret: null })
let batch: Parameters<typeof ingest>[1][number][] = []
let written = 0
for await (const line of createInterface({ input: createReadStream(file!) })) {
  const observation = parseObservation(line)
  if (typeof observation === 'string') throw new Error(observation)
  batch.push(observation)
  if (batch.length < BATCH) continue
  await ingest(store, batch)
  written += batch.length
  batch = []
  process.stdout.write(`written ${written}\n`)
}
await ingest(store, batch)
await store.close()
