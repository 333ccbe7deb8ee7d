/**
 * `npm run bench:client`: compares the client library with plain fetch, by look-ups and by downloads, and its own
 * SHA-256 with that of node:crypto. The figures are of this process, the server is another one.
 */

import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DomaindexClient, Sha256, type Sha256Hasher } from '../client/src/client.ts'
import { readOptions } from './measure/options.ts'
import { timeWork } from './measure/processor-time.ts'
import { metric, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'

/** What is hashed and downloaded: more than 2³² bits, the range of one word of the length that SHA-256 appends. */
const MEBIBYTES = 600
const CHUNK = Buffer.alloc(65_536, 'a name in a list')
const chunks = (MEBIBYTES * 2 ** 20) / CHUNK.length
/** `names`: look-ups per round. */
const { names: calls, rounds } = readOptions(20_000)

const server = fork(fileURLToPath(new URL('./client/server.ts', import.meta.url)), [String(chunks)])
const [port] = (await once(server, 'message')) as [number]
const address = `http://127.0.0.1:${port}`
const clientWith = (sha256?: () => Sha256Hasher) => new DomaindexClient({ server: address, token: 'bench', sha256 })
const native = () => createHash('sha256')
const client = clientWith()

const runs = await runInterleaved(rounds, {
  ownHash: () => timeWork(async () => hashFile(new Sha256())),
  nodeHash: () => timeWork(async () => hashFile(native())),
  plainDownload: () => timeWork(async () => drain((await fetch(`${address}/files/file`)).body!)),
  ownDownload: () => timeWork(async () => drain((await client.downloadFile('file')).body)),
  nodeDownload: () => timeWork(async () => drain((await clientWith(native).downloadFile('file')).body)),
  plainCalls: () => timeWork(() => repeat(plainLookup)),
  libraryCalls: () => timeWork(() => repeat(() => client.lookup('example.com'))),
})
server.kill()
const hashes = new Set([...runs.ownHash, ...runs.nodeHash].map(({ result }) => result))
if (hashes.size !== 1) throw new Error('The hashes differ.')

const rate = (key: keyof typeof runs, units: number) => units / medianOf(runs[key], (run) => run.seconds)
const cost = (key: keyof typeof runs, units: number) => (1e6 * medianOf(runs[key], (run) => run.cpuSeconds)) / units
report(
  'client',
  [
    metric('SHA-256 of the library', rate('ownHash', MEBIBYTES), 'MiB/s'),
    metric('SHA-256 of node:crypto', rate('nodeHash', MEBIBYTES), 'MiB/s'),
    metric('download by plain fetch, no digest', rate('plainDownload', MEBIBYTES), 'MiB/s'),
    metric('  processor time', cost('plainDownload', MEBIBYTES), 'µs per MiB'),
    metric('download by the library', rate('ownDownload', MEBIBYTES), 'MiB/s'),
    metric('  processor time', cost('ownDownload', MEBIBYTES), 'µs per MiB'),
    metric('download by the library with node:crypto', rate('nodeDownload', MEBIBYTES), 'MiB/s'),
    metric('  processor time', cost('nodeDownload', MEBIBYTES), 'µs per MiB'),
    metric('look-ups by plain fetch', rate('plainCalls', calls), '1/s'),
    metric('  processor time', cost('plainCalls', calls), 'µs per call'),
    metric('look-ups by the library', rate('libraryCalls', calls), '1/s'),
    metric('  processor time', cost('libraryCalls', calls), 'µs per call'),
  ],
  [`${MEBIBYTES} MiB, ${calls} look-ups one after another, interleaved, median of ${rounds}`],
  runs,
)

function hashFile(hash: Sha256Hasher): string {
  for (let index = 0; index < chunks; index++) hash.update(CHUNK)
  return Buffer.from(hash.digest()).toString('hex')
}

async function drain(body: ReadableStream<Uint8Array>): Promise<string> {
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return String(bytes)
}

async function repeat(call: () => Promise<unknown>): Promise<string> {
  for (let count = 0; count < calls; count++) await call()
  return ''
}

async function plainLookup(): Promise<unknown> {
  const body = JSON.stringify({ query: 'example.com', token: 'bench' })
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
  const response = await fetch(`${address}/v1.0/lookup`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(String(response.status))
  return response.json()
}
