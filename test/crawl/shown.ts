/**
 * A program: shows the certificates of a folder to the crawler and to openssl at one clock, and prints both verdicts. Arguments:
 * the folder, a file of roots, seconds since 1970 by which openssl judges (the crawler judges by the clock of this process), and
 * `all`, or `current` for those whose time it is, which are then shown to somebody else's name too.
 */

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { handshake } from '../../src/crawl/http-dial.ts'
import { makeTrust } from '../../src/crawl/tls.ts'
import { WEB_LIMITS } from '../../src/crawl/web-limits.ts'
import type { Address } from '../../src/words/address.ts'
import { showing } from './keyless.ts'
import { askOpenssl } from './openssl.ts'

export type Shown = { file: string; host: string; ours: unknown; theirs: string | null | undefined }

const [folder = '', roots = '', at = '', which] = process.argv.slice(2)
const trust = makeTrust([])
let chain: X509Certificate[] = []
const server = createServer((socket) => showing(chain, () => socket.end())(socket))
await once(server.listen(0, '127.0.0.1'), 'listening')
const { port } = server.address() as AddressInfo

for (const file of readdirSync(folder)) {
  const blocks = readFileSync(`${folder}/${file}`, 'utf8').match(/-----BEGIN.*?-----END CERTIFICATE-----/gs) ?? []
  chain = blocks.map((block) => new X509Certificate(block))
  for (const host of hostsFor(chain[0]!)) {
    const shown: Shown = {
      file,
      host,
      ours: await ours(host),
      theirs: await askOpenssl({ port, host, roots, at: +at }),
    }
    console.log(JSON.stringify(shown))
  }
}
server.close()

function hostsFor({ subjectAltName = '', validFrom, validTo }: X509Certificate): string[] {
  const [, name = 'nobody.example'] = /DNS:([^,]+)/.exec(subjectAltName) ?? []
  const own = name.replace('*', 'www')
  if (which === 'all') return [own]
  const isCurrent = Date.parse(validFrom) <= +at * 1000 && +at * 1000 <= Date.parse(validTo)
  return isCurrent ? [own, 'somebody-else.example'] : []
}

async function ours(host: string) {
  const reach = { doors: [{ address: '127.0.0.1' as Address, port }], barred: false }
  const certificate = await handshake(reach, { host, trust, limits: WEB_LIMITS, opened() {} })
  return certificate.kind === 'shown' ? certificate.error : undefined
}
