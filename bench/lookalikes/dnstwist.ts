/** The permutations of dnstwist, Debian's program, which runs without the network here. */

import { spawnSync } from 'node:child_process'
import { type DomainName, parseName } from '../../src/values/domain-name.ts'

/** The fuzzers of dnstwist that need no dictionary, and `tld-swap` with the suffixes that it gets. */
const FUZZERS = [
  ...['addition', 'bitsquatting', 'cyrillic', 'homoglyph', 'hyphenation', 'insertion', 'omission', 'repetition'],
  ...['replacement', 'subdomain', 'transposition', 'vowel-swap', 'various', 'tld-swap'],
]

/** Reads brands from standard input, a line each, and writes the names of each fuzzer as a line of JSON. */
const PROGRAM = `
import json, sys
sys.path.insert(0, '/usr/lib/python3/dist-packages')
import dnstwist
fuzzers, suffixes = json.loads(sys.argv[1])
for brand in sys.stdin.read().split():
    names = {}
    for fuzzer in fuzzers:
        fuzz = dnstwist.Fuzzer(brand, [], list(suffixes))
        fuzz.generate([fuzzer])
        names[fuzzer] = [each['domain'] for each in fuzz.domains]
    print(json.dumps([brand, names]), flush=True)
`

export type Permutations = { brand: string; byFuzzer: Record<string, DomainName[]> }

/** The permutations of brands, without the brand itself; null if the machine has no dnstwist. */
export function permutationsOf(brands: readonly string[], suffixes: readonly string[]): Permutations[] | null {
  const { stdout, status } = spawnSync('/usr/bin/python3', ['-c', PROGRAM, JSON.stringify([FUZZERS, suffixes])], {
    ...{ input: brands.join('\n'), encoding: 'utf8', maxBuffer: 2 ** 30 },
  })
  if (status !== 0) return null
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [brand, names] = JSON.parse(line) as [string, Record<string, DomainName[]>]
      const usable = (name: DomainName): boolean => name !== brand && parseName(name) === name
      const byFuzzer = Object.fromEntries(Object.entries(names).map(([fuzzer, all]) => [fuzzer, all.filter(usable)]))
      return { brand, byFuzzer }
    })
}
