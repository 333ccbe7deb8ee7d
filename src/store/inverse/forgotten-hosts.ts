/**
 * What else the inverse index loses with a forgotten name: the known hosts that no other name's records name, and the
 * certificates that name it.
 */

import { positionOf } from '../../inverse/entries/block.ts'
import {
  hostItselfPrefix,
  hostOfValueKey,
  namedHostPrefix,
  nameSetKey,
  namesHost,
  parseNamedHostKey,
} from '../../inverse/entries/value-key.ts'
import { type InverseRead, prefixRange, readKeys, splitPosition } from './scan.ts'

/** The hosts that entries of a name are about. */
export function hostsOfEntries(entryKeys: Iterable<string>): string[] {
  const hosts = new Set<string>()
  for (const key of entryKeys) if (namesHost(key)) hosts.add(hostOfValueKey(key))
  return [...hosts]
}

export function knownHostKeys(hosts: readonly string[]): string[] {
  return hosts.map((host) => nameSetKey('knownHost', host))
}

/** Which of the hosts records name, and which none does. */
export function* hostsByUse(hosts: readonly string[]): InverseRead<{ used: string[]; unused: string[] }> {
  const used: string[] = []
  const unused: string[] = []
  for (const host of hosts) {
    const { keys } = yield* readKeys(prefixRange(hostItselfPrefix(host)), null, 1)
    ;(keys.length > 0 ? used : unused).push(host)
  }
  return { used, unused }
}

/** Keys of certificates that one read returns. */
const KEYS_PER_READ = 1_000

/** The fingerprints of the certificates that name a name, its wildcard or a host below it, each once. */
export function* certificatesNaming(name: string): InverseRead<string[]> {
  const range = prefixRange(namedHostPrefix(name))
  const found = new Set<string>()
  for (let after: string | null = null; ; ) {
    const { keys, end }: { keys: string[]; end: string | null } = yield* readKeys(range, after, KEYS_PER_READ)
    for (const key of keys) found.add(parseNamedHostKey(key).sha256)
    if (end === null) return [...found]
    after = positionOf(splitPosition(end).host, 0)
  }
}
