/** Compares the certificates of names, and the names of certificates, between a store and the model. */

import assert from 'node:assert/strict'
import type {
  CertificateQuery,
  CertificateSpan,
  CertificateSpanPage,
  InverseReader,
} from '../../../src/store/port/inverse.ts'
import type { CertificateHistory, FactsReader, PastCertificate } from '../../../src/store/port/store.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { Model } from '../model.ts'
import { CERTIFICATES } from './arbitraries.ts'
import { name } from './world.ts'

/** The walk of a certificate finds the times in which each name presented it, and that of a name its certificates. */
export async function agreeOnCertificates(inverse: InverseReader, model: Model, limit: number): Promise<void> {
  const all = model.certificateSpans()
  const walk = async (query: CertificateQuery): Promise<string[]> => {
    const found: string[] = []
    let position: Uint8Array | null = null
    do {
      const page: CertificateSpanPage = await inverse.certificates(query, position, limit)
      found.push(...page.spans.map((span) => textOfSpan(span, span.host)))
      position = page.position
    } while (position !== null)
    return found.sort()
  }
  const textOfSpan = ({ sha256, name, first, last }: CertificateSpan, host: string | null): string =>
    `${sha256} ${host} | ${name} ${first} ${last}`
  for (const { sha256 } of CERTIFICATES) {
    const expected = all.filter((each) => each.sha256 === sha256).map((each) => textOfSpan(each, null))
    assert.deepEqual(await walk({ sha256 }), expected.sort(), `certificate ${sha256}`)
  }
  const expected = all.flatMap((each) =>
    each.names.filter((host) => `.${host}`.endsWith('.b.example')).map((host) => textOfSpan(each, host)),
  )
  assert.deepEqual(await walk({ names: name('b.example') }), expected.sort(), 'certificates for b.example')
}

/** All certificates of a name, in pages of `limit`. */
export async function walkCertificates(facts: FactsReader, name: DomainName, limit: number): Promise<object> {
  const found: PastCertificate[] = []
  let page: CertificateHistory
  do {
    page = await facts.certificateHistory(name, found.at(-1)?.first_seen ?? null, limit)
    found.push(...structuredClone(page.states))
  } while (page.more)
  return { states: found, total: page.total }
}
