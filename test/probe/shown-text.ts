/**
 * A program: presents the certificates of a folder to the crawler and to openssl with the same clock, and prints both
 * verdicts. Arguments: the folder, a file of roots, the time of openssl in seconds since 1970, and `all`, or `current`
 * for certificates that are valid in time. The crawler uses the clock of this process. A valid certificate is also
 * presented for another name.
 */

import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { parseName } from '../../src/values/domain-name.ts'
import { answer, HOME, Internet, named } from './internet.ts'
import { showing } from './tls/keyless.ts'
import { askOpenssl } from './tls/openssl.ts'

export type Shown = { file: string; host: string; ours: string | null | undefined; theirs: string | null | undefined }

const OTHER = 'somebody-else.example'
const [folder = '', roots = '', at = '', which] = process.argv.slice(2)
let chain: X509Certificate[] = []
const endings: (() => unknown)[] = []
const internet = new Internet({ after: (end) => void endings.push(end as () => unknown) })
await internet.plain((_, socket) => socket.end(answer(404)))
await internet.stand(
  createServer((socket) => showing(chain, () => socket.end())(socket)),
  443,
  HOME,
)
const port = internet.stands.at(-1)?.port ?? 0
const web = internet.web()

for (const file of readdirSync(folder)) {
  const blocks = readFileSync(`${folder}/${file}`, 'utf8').match(/-----BEGIN.*?-----END CERTIFICATE-----/gs) ?? []
  chain = blocks.map((block) => new X509Certificate(block))
  const own = which === 'all' || isCurrent(chain[0]!) ? hostOf(chain[0]!) : null
  if (own !== null && (await show(file, own)) === null) await show(file, OTHER)
}
for (const end of endings) await end()

/** Resolves to our verdict. */
async function show(file: string, host: string): Promise<string | null | undefined> {
  const shown: Shown = { file, host, ours: await ours(host), theirs: await askOpenssl({ port, host, roots, at: +at }) }
  console.log(JSON.stringify(shown))
  return shown.ours
}

/** A name without a dot is not crawled. */
function hostOf({ subjectAltName = '' }: X509Certificate): string {
  const [, name = ''] = /DNS:([^,]+)/.exec(subjectAltName) ?? []
  return parseName(name.replace('*', 'www')) ?? OTHER
}

function isCurrent({ validFrom, validTo }: X509Certificate): boolean {
  return Date.parse(validFrom) <= +at * 1000 && +at * 1000 <= Date.parse(validTo)
}

/** The error of the presented certificate, null for none, undefined if none was presented. */
async function ours(host: string): Promise<string | null | undefined> {
  const seen = await web.probe(named(host), { addresses: [HOME] })
  return seen?.certificate.kind === 'presented' ? seen.certificate.error : undefined
}
