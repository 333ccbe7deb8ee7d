/**
 * Tests imports of the two real files: in the long form of all lines, in the short form of those of a fifth of the names.
 * An independent script determined the counts of the whole files, and `file-history.ts` determines what they say backwards
 * and as of any date.
 */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { readDnsAsOf } from '../../../src/export/as-of.ts'
import { HOST_TYPES, type InverseQuery, type InverseSpan } from '../../../src/store/port/inverse.ts'
import type { Store } from '../../../src/store/port/store.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import type { RecordType } from '../../../src/values/records/dns-record.ts'
import { isLong } from '../../long.ts'
import { faultsOf } from '../answers.ts'
import { folderOf } from '../run.ts'
import { readHistories, spansOf, stateAt, TYPES } from './file-history.ts'

const FOLDER = fileURLToPath(new URL('../../../../shared/data/observations/', import.meta.url))
const FILES = [
  [
    'gov-zone-2023-2025.jsonl.gz',
    'read 20489, applied 20365, unchanged 63, stale 61, refused 0',
    'read 4109, applied 4087, unchanged 12, stale 10, refused 0',
    0,
  ],
  // Line 15,048 has two mail servers in one, with a space between them.
  [
    'registry-2020-2025.jsonl.gz',
    'read 30528, applied 29813, unchanged 714, stale 0, refused 1',
    'read 6225, applied 6071, unchanged 153, stale 0, refused 1',
    3,
  ],
] as const
/** The names are in so many parts. Their counts add up to those of the whole files. */
const PARTS = 5
/** The part with line 15,048 of the second file. */
const PART = 4

suite('the real files', { concurrency: 2, skip: !existsSync(FOLDER) && 'the sample data is not here' }, () => {
  for (const [file, counts, countsOfPart, exitCode] of FILES) {
    test(`${file} is imported completely, and check finds nothing`, async (t) => {
      const { run, withStore, path } = folderOf(t)
      if (!isLong) writeFileSync(path('part.gz'), partOf(`${FOLDER}${file}`))
      const imported = isLong ? `${FOLDER}${file}` : path('part.gz')
      const { code, stdout } = await run(['import', imported])
      assert.deepEqual([stdout.replace(/ \(.*\n/, ''), code], [isLong ? counts : countsOfPart, exitCode])
      assert.deepEqual(await withStore(faultsOf), [])
      const histories = readHistories(imported)
      const spans = spansOf(histories)
      await withStore(async (store) => {
        const found = await inverseSpans(store, spans)
        assert.deepEqual([without(found, spans), without(spans, found)], [[], []])
        await compareDates(store, histories)
      })
    })
  }
})

/** The lines of the names of one part, gzipped. */
function partOf(path: string): Buffer {
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split('\n')
  const part = lines.filter((line) => {
    const { domain } = JSON.parse(line) as { domain: string }
    return Buffer.from(domain).reduce((sum, byte) => sum + byte, 0) % PARTS === PART
  })
  return gzipSync(`${part.join('\n')}\n`)
}

function without(texts: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...texts].filter((text) => !others.has(text))
}

/** All spans of the inverse index: by address, by host, and by each text that is expected. */
async function inverseSpans({ inverse }: Store, expected: ReadonlySet<string>): Promise<Set<string>> {
  const texts = new Set([...expected].flatMap((span) => /^TXT (.*\]) \S+ \d+ \d+$/s.exec(span)?.[1] ?? []))
  const queries: InverseQuery[] = [
    { by: 'addresses', first: '0.0.0.0' as IpAddress, last: '255.255.255.255' as IpAddress },
    { by: 'addresses', first: '::' as IpAddress, last: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' as IpAddress },
    { by: 'hosts', host: '.', match: 'below', types: HOST_TYPES },
    ...[...texts].map((parts): InverseQuery => ({ by: 'text', parts: JSON.parse(parts) })),
  ]
  const found = new Set<string>()
  for (const query of queries) {
    let position: Uint8Array | null = null
    do {
      const page = await inverse.spans(query, {}, position, 5_000)
      for (const { data, name, first, last } of page.spans)
        found.add([data.type, dataText(data), name, first, last].join(' '))
      position = page.position
    } while (position !== null)
  }
  return found
}

function dataText(data: InverseSpan['data']): string {
  if ('address' in data) return data.address
  if ('parts' in data) return JSON.stringify(data.parts)
  if ('priority' in data) return `${data.priority} ${data.host}`
  return 'role' in data ? `${data.role} ${data.host}` : data.host
}

const DATES = 1_000

/** Compares the DNS of names as of random dates. */
async function compareDates({ facts }: Store, histories: ReturnType<typeof readHistories>): Promise<void> {
  const names = [...histories.keys()]
  const times = [...histories.values()].map(({ statusAt }) => statusAt)
  const [min, max] = [Math.min(...times), Math.max(...times)]
  const points = fc.sample(fc.tuple(fc.constantFrom(...names), fc.integer({ min, max })), { numRuns: DATES, seed: 1 })
  let known = 0
  for (const [name, moment] of points) {
    const { states } = await readDnsAsOf(facts, name as DomainName, moment, false)
    for (const type of TYPES) {
      const expected = stateAt(histories.get(name)!, type, moment)
      const state = states[type as RecordType]
      if (expected?.values === '[]' && state === undefined) continue
      const records = (JSON.parse(state?.records ?? '[]') as { parts?: string[] }[]).map((record) =>
        (record.parts ?? Object.values(record)).join('\n'),
      )
      const found = state && { ...state, values: JSON.stringify(records.sort()) }
      const { values, first_seen, last_seen } = found ?? {}
      assert.deepEqual(found && { values, first_seen, last_seen }, expected ?? undefined, `${name} ${type} ${moment}`)
      if (expected !== null) known++
    }
  }
  assert.ok(known > 400, `${known} states`)
}
