/**
 * The log of bench:ct, in a process of its own: a tree of a pool of real certificates in turn, served as static tiles.
 * It keeps the levels of the tree in memory, and answers with ready tiles.
 */

import { createHash, createSign, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { timestamped, vector } from '../../lab/certificate-log/log.ts'
import { labEntries } from '../../test/fetch/ct/world.ts'

const TILE = 256
const size = Math.floor(Number(process.argv[2]) / TILE) * TILE
const sha256 = (...parts: Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()

/** One tile of entries, which every place of the tree repeats. */
const entries = await labEntries(TILE)
const dataTile = gzipSync(
  Buffer.concat(
    entries.map((entry) =>
      Buffer.concat([
        timestamped(entry),
        entry.isTbs ? vector(entry.der, 3) : Buffer.alloc(0),
        vector(Buffer.alloc(64, 9), 2),
      ]),
    ),
  ),
)
/** The nodes of each level of tiles, from level 0. All full tiles of a level are equal. */
const nodeOf = (nodes: readonly Buffer[]): Buffer =>
  nodes.length === 1
    ? nodes[0]!
    : sha256(Buffer.from([1]), nodeOf(nodes.slice(0, nodes.length / 2)), nodeOf(nodes.slice(nodes.length / 2)))
const levels: Buffer[][] = [entries.map((entry) => sha256(Buffer.from([0, 0, 0]), timestamped(entry)))]
for (let nodes = size / TILE; nodes >= 1; nodes = Math.floor(nodes / TILE))
  levels.push(Array.from({ length: TILE }, () => nodeOf(levels.at(-1)!)))

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const key = publicKey.export({ format: 'der', type: 'spki' })
const checkpoint = makeCheckpoint()

const server = createServer((request, response) => {
  const path = request.url!.slice(1)
  if (path === 'checkpoint') return void response.end(checkpoint)
  if (path.startsWith('tile/data/')) return void response.setHeader('content-encoding', 'gzip').end(dataTile)
  const [, level = '', width = String(TILE)] = /^tile\/(\d+)\/[x\d/]+(?:\.p\/(\d+))?$/.exec(path) ?? []
  if (level === '') return void response.writeHead(404).end()
  response.end(Buffer.concat(levels[Number(level)]!.slice(0, Number(width))))
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on ${(server.address() as AddressInfo).port} with ${key.toString('base64')}`)
})

/** The root over the partial tiles at the right edge. */
function rootOfTree(): Buffer {
  const subtrees: Buffer[] = []
  for (let [level, nodes] = [0, size]; nodes > 0; level++, nodes = Math.floor(nodes / TILE)) {
    const row: Buffer[] = []
    for (let [bit, at] = [TILE / 2, 0]; bit >= 1; bit /= 2) {
      if (((nodes % TILE) & bit) === 0) continue
      row.push(nodeOf(levels[level]!.slice(at, at + bit)))
      at += bit
    }
    subtrees.unshift(...row)
  }
  return subtrees.reduceRight((right, left) => sha256(Buffer.from([1]), left, right))
}

function makeCheckpoint(): string {
  const [root, at, origin] = [rootOfTree(), Date.now(), 'bench.test/log']
  const signed = Buffer.alloc(50)
  signed[1] = 1
  signed.writeBigUInt64BE(BigInt(at), 2)
  signed.writeBigUInt64BE(BigInt(size), 10)
  root.copy(signed, 18)
  const keyId = sha256(Buffer.from(`${origin}\n`), Buffer.from([5]), sha256(key)).subarray(0, 4)
  const signature = vector(createSign('sha256').update(signed).sign(privateKey), 2)
  const line = Buffer.concat([keyId, signed.subarray(2, 10), Buffer.from([4, 3]), signature])
  return `${origin}\n${size}\n${root.toString('base64')}\n\n— ${origin} ${line.toString('base64')}\n`
}
