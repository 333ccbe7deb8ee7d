/**
 * The certificates of schemas 12 of SQLite and 14 of PostgreSQL: their details are in the text of each state, and the
 * inverse index has an entry of each of their names for each name that presented them.
 */

import { stateTypeOfNumber } from '../../apply/stored-numbers.ts'
import { KEY_KIND, namedHostKeys } from '../../inverse/entries/value-key.ts'
import { type Certificate, decodeCertificate } from '../../values/certificate/certificate.ts'
import { encodePresented, hasDetails } from '../../values/certificate/presented.ts'
import type { Instant } from '../../values/time.ts'
import { packStates, unpackStates } from '../shared/columns.ts'
import { certificateTextsOf, type StoredHistory } from './name-events.ts'

/** The first byte of the keys of their names. */
const FORMER_KIND = 'n'
/** What ends the name in such a key, before the fingerprint and the name that presented the certificate. */
const DATA_END = '\x00'
const DIGEST_BYTES = 32

/**
 * A name without such certificates in its states. `certificates`: one for each state. `states`: the stored newest states.
 * `superseded`: the text of each superseded state by its first time.
 */
export type FormerCertificates = {
  certificates: Certificate[]
  states: string
  superseded: { first_seen: Instant; records: string }[]
}

/** Whether a name has such a certificate. */
export function hasFormerCertificates(history: StoredHistory): boolean {
  return certificateTextsOf(history).some(hasDetails)
}

/** What becomes of a name that has such certificates. `states`: its stored newest states. */
export function formerCertificatesOf(history: StoredHistory, states: string): FormerCertificates {
  const older = history.superseded.flatMap(({ type, first_seen, records }) =>
    stateTypeOfNumber(type) === 'certificate' && hasDetails(records)
      ? [{ first_seen, certificate: decodeCertificate(records)! }]
      : [],
  )
  const newest = unpackStates(states)
  const { certificate: state } = newest
  const current = state !== undefined && hasDetails(state.records) ? decodeCertificate(state.records) : null
  return {
    certificates: [...older.map(({ certificate }) => certificate), ...(current === null ? [] : [current])],
    states: current ? packStates({ ...newest, certificate: { ...state!, records: encodePresented(current) } }) : states,
    superseded: older.map(({ first_seen, certificate }) => ({ first_seen, records: encodePresented(certificate) })),
  }
}

/** The keys of the entries of such certificates. */
export function formerKeysOf(history: StoredHistory): string[] {
  const { name } = history
  const keys = certificateTextsOf(history)
    .filter(hasDetails)
    .flatMap((text) => namedHostKeys(decodeCertificate(text)!))
  return keys.map((key) => FORMER_KIND + key.slice(KEY_KIND.namedHost.length) + name)
}

/** The name that presented the certificate of such a key; null for another key. */
export function nameOfFormerKey(key: string): string | null {
  return key[0] === FORMER_KIND ? key.slice(key.indexOf(DATA_END) + 1 + DIGEST_BYTES) : null
}
