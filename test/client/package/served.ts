/** A server with the data that the consumer of the client library reads, and what it has to see. */

import { createHash } from 'node:crypto'
import { noise, publish } from '../../spec/files/files.ts'
import { look, ok, redirecting, site } from '../../spec/observations.ts'
import { makeWorld } from '../../spec/world.ts'

const FILE = '2026-11-18.txt.gz'
const CONTENT = noise(500_000)
const SIZE = CONTENT.length
const SHA256 = createHash('sha256').update(CONTENT).digest('hex')

export const EXPECTED = {
  ip: 'v4only',
  sources: ['a.example', 'b.example', 'c.example'],
  states: ['192.0.2.2', '192.0.2.1'],
  answers: [null, null, null],
  file: { filename: FILE, size: SIZE, etag: `"${SHA256.slice(0, 32)}"`, sha256: SHA256, bytes: SIZE },
  unknown: { error: 'no_data', hasId: true },
  stopped: 'stop',
  unreachable: true,
}

export async function makeConsumerWorld() {
  const world = await makeWorld()
  await world.ingest(
    look('target.example', { dns: ok({ A: ['192.0.2.1'] }), web: site() }, '2026-11-01T00:00:00Z'),
    ...['a.example', 'b.example', 'c.example'].map((name) => redirecting(name, 'target.example')),
  )
  await world.ingest(look('target.example', { dns: ok({ A: ['192.0.2.2'] }) }))
  await publish(world, FILE, CONTENT)
  const { token } = await world.account({ plan: 'premium', periods: ['premium:2026-01-01..'] })
  return { world, token }
}
