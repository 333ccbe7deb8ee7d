/** The name server of bench:axfr, in a process of its own: the lab's, with a zone whose messages are ready to be sent. */

import { transferMessages, zoneRecords } from '../../lab/transfers/messages.ts'
import { startTransferServer } from '../../lab/transfers/server.ts'
import { BENCH_KEY, BENCH_ZONE, SIGNS_ONE_IN } from './zone.ts'

const names = Number(process.argv[2])

function* labels(): Generator<string> {
  for (let index = 0; index < names; index++) yield `name-${index.toString(36)}`
}

const zone = { serial: 1, delegations: labels() }
const question = Buffer.concat([
  Buffer.alloc(12),
  ...BENCH_ZONE.split('.').map(labelBytes),
  Buffer.from([0, 0, 252, 0, 1]),
])
question[5] = 1
const ready = [...transferMessages(question, zoneRecords(zone))]
const server = await startTransferServer(
  { [BENCH_ZONE]: { serial: 1, delegations: [] } },
  () => Math.floor(Date.now() / 1000),
  { key: BENCH_KEY, signsOneIn: SIGNS_ONE_IN, changeMessages: (_, query) => withId(query) },
)
console.log(`listening on ${server.port}`)

/** The ready messages with the ID of a query. */
function* withId(query: Buffer): Generator<Buffer> {
  for (const message of ready) {
    query.copy(message, 0, 0, 2)
    yield message
  }
}

function labelBytes(label: string): Buffer {
  return Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])
}
