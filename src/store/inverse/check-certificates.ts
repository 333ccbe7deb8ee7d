/** Checks certificates: their details, the states that refer to them, and their names in the inverse index. */

import { EntryCursor } from '../../inverse/entries/block.ts'
import { certificateKey, latin1Bytes, namedHostKeys, parseNamedHostKey } from '../../inverse/entries/value-key.ts'
import { type Certificate, decodeDetails } from '../../values/certificate/certificate.ts'
import type { CheckFault } from '../port/store.ts'
import { problemReporter } from '../shared/check/slice.ts'
import { type CheckedCertificate, type FoundBlock, findEntries, type InverseCheck, latin1 } from './check-entries.ts'

/** What is filled in: the names of certificates, and of the names that presented them. */
type CertificateFill = { certificates: boolean; names: boolean }

/** Certificates per unit of `limit`: each has many entries. */
const ROWS_PER_CERTIFICATE = 20
/** States of one certificate that are counted at most. */
const MAX_COUNTED = 5_000

/** What is filled in, from the rows of `metadata` that say what is not. */
export function certificateFillOf(unfilled: readonly { name?: unknown }[]): CertificateFill {
  const isFilled = (what: string): boolean => unfilled.every(({ name }) => name !== what)
  return { certificates: isFilled('certificate_fill'), names: isFilled('inverse_fill') }
}

/** The number of certificates of a slice. */
export function certificatesPerSlice(limit: number): number {
  return Math.ceil(limit / ROWS_PER_CERTIFICATE)
}

/** Each certificate is readable and used, has as many states as are counted, and is found by each of its names. */
export function* checkCertificates(
  rows: readonly CheckedCertificate[],
  isFilled: CertificateFill,
): InverseCheck<CheckFault[]> {
  const faults: CheckFault[] = []
  const readable: Certificate[] = []
  for (const row of rows) {
    const { sha256, states, logged_at, problem } = row
    const report = problemReporter(faults, 'certificate', sha256)
    if (problem != null) report(problem)
    try {
      readable.push(decodeDetails(sha256, row.details))
    } catch (error) {
      report(`cannot be read: ${(error as Error).message}`)
    }
    if (states === 0 && logged_at === null) report('belongs to no state')
    const found = isFilled.names ? yield* countStates(sha256) : null
    if (found !== null && found !== states) report(`counts ${states} states, has ${found}`)
  }
  if (!isFilled.certificates) return faults
  const found = yield* findEntries(readable.flatMap(namedHostKeys).sort())
  for (const certificate of readable) {
    const [missing] = namedHostKeys(certificate).filter((key) => !found.has(key))
    const report = problemReporter(faults, 'certificate', certificate.sha256)
    if (missing !== undefined) report(`is not found by its name ${parseNamedHostKey(missing).host}`)
  }
  return faults
}

/** The states that presented a certificate, by the index; null for too many. */
export function* countStates(sha256: string): InverseCheck<number | null> {
  const prefix = certificateKey(sha256)
  const starts = new Set<string>()
  let positions = [latin1Bytes(prefix)]
  while (positions.length > 0) {
    const blocks = (yield { needs: 'blocks', runs: null, positions }) as FoundBlock[]
    const next = new Set<string>()
    for (const { entries, last } of blocks) {
      for (const start of startsOf(entries, prefix)) starts.add(start)
      const end = latin1(last)
      if (end.startsWith(prefix)) next.add(`${end}\x00`)
    }
    if (starts.size > MAX_COUNTED) return null
    positions = [...next].sort().map(latin1Bytes)
  }
  return starts.size
}

/** The start events of the keys of a block that begin with a prefix. None of a damaged block. */
function startsOf(entries: Uint8Array, prefix: string): string[] {
  const starts: string[] = []
  try {
    for (const cursor = new EntryCursor([entries]); cursor.next(); ) {
      const key = cursor.key.toString('latin1', 0, cursor.keyLength)
      if (key.startsWith(prefix))
        for (let index = 0; index < cursor.eventCount; index++)
          if (cursor.events[index]! % 2 === 0) starts.push(`${key} ${cursor.events[index]}`)
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return starts
}

/** The keys that are no name of a certificate that exists, each with what is wrong. */
export function* problemsOfNamedHosts(keys: readonly string[]): InverseCheck<Map<string, string>> {
  const sha256s = [...new Set(keys.map((key) => parseNamedHostKey(key).sha256))]
  if (sha256s.length === 0) return new Map()
  const rows = (yield { needs: 'certificates', sha256s }) as CheckedCertificate[]
  const named = new Set(rows.flatMap(keysOfRow))
  const existing = new Set(rows.map(({ sha256 }) => sha256))
  const problemOf = (key: string): string =>
    existing.has(parseNamedHostKey(key).sha256) ? 'does not have the name' : 'does not exist'
  return new Map(keys.filter((key) => !named.has(key)).map((key) => [key, problemOf(key)]))
}

/** The keys of a row; none if it cannot be read, which its own check reports. */
function keysOfRow({ sha256, details }: CheckedCertificate): string[] {
  try {
    return namedHostKeys(decodeDetails(sha256, details))
  } catch {
    return []
  }
}
