/** A small store with rows in every table of the facts, whose rows have older versions, for the tests of damage. */

import { maintainInverseOnce } from '../../../src/inverse/maintainer.ts'
import { SYSTEM_CLOCK } from '../../../src/server/system-clock.ts'
import { indexOnce } from '../../../src/similar/index/run-indexer.ts'
import { ingest } from '../../../src/store/ingest.ts'
import type { Store } from '../../../src/store/port/store.ts'
import type { Certificate } from '../../../src/values/certificate/certificate.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import { CERTIFICATES } from '../conformance/arbitraries.ts'
import { address, dns, minute, NXDOMAIN, name, redirecting, seen, soa, web } from '../conformance/world.ts'
import type { Asked } from './all-answers.ts'

export const WORLD_NAMES: readonly DomainName[] = Array.from({ length: 24 }, (_, n) => name(`n${n}.example`))
/** Observed in rounds; after the round before the last, a row still has its older version. */
export const ROUNDS = [1, 2, 3, 4]
const ADDRESSES = 9
const TARGETS = 3

/** What a damaged store is asked. */
export const WORLD_QUESTIONS: Asked = {
  names: [...WORLD_NAMES, name('gone.example'), ...Array.from({ length: TARGETS }, (_, n) => name(`t${n}.example`))],
  addresses: [
    ...Array.from({ length: ADDRESSES }, (_, n) => address(`192.0.2.${n}`)),
    ...Array.from({ length: 3 }, (_, n) => address(`2001:db8::${n}`)),
  ],
  sha256s: CERTIFICATES.map(({ sha256 }) => sha256),
  similar: true,
}

/** Observes all names once. */
export async function observeRound(store: Store, round: number): Promise<void> {
  await ingest(
    store,
    WORLD_NAMES.map((each, n) => observationOf(each, n, round)),
  )
  if (round === 1) {
    await ingest(store, [seen('gone.example', 1, dns({ A: ['192.0.2.1'] }), redirecting('t0.example'))])
    const logged: Certificate = {
      ...CERTIFICATES[0]!,
      sha256: 'ab'.repeat(32),
      names: ['logged.example'] as DomainName[],
    }
    await store.observations.addLogged([{ certificate: logged, logged_at: minute(1) }])
  }
  if (round === 2) await store.observations.forget(name('gone.example'))
}

function observationOf(each: DomainName, n: number, round: number) {
  if (n % 8 === 7 && round === 2) return seen(each, round, NXDOMAIN)
  const records = {
    A: [`192.0.2.${(n + (n % 3 === 0 ? round : 0)) % ADDRESSES}`],
    AAAA: n % 3 === 0 ? [`2001:db8::${n % 3}`] : [],
    MX: [{ priority: 10, mail_server: `mx${n % 3}.example` }],
    TXT: n % 4 === 0 ? [[`round ${round}`]] : [],
    NS: ['ns1.example', 'ns2.example'],
    SOA: [soa(round)],
  }
  const target = `t${(n + (n % 10 === 0 ? round : 0)) % TARGETS}.example`
  const text = `${n % 2 === 0 ? `round ${round} ` : ''}bread cake harbour mill ${n % 7} forest ${n % 5}`
  const certificate = CERTIFICATES[(n + (n % 4 === 0 ? round : 0)) % CERTIFICATES.length]!
  const site = n % 5 === 0 ? redirecting(target) : web({ has_website: true, text, ssl: 'valid' })
  return seen(each, round, dns(records), n % 5 === 0 ? site : { ...site, certificate })
}

/** Completes both indexes, so that every answer is one of the store alone. */
export async function completeIndexes(store: Store): Promise<void> {
  const indexing = { store, holder: 'a test', clock: SYSTEM_CLOCK, reporter: { progress: () => {} } }
  await indexOnce(indexing, new AbortController().signal)
  await maintainInverseOnce(indexing, new AbortController().signal)
}
