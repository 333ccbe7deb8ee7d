/** The memory of `domaindex fetch ct` beside hostile logs, measured in the process of the command. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { folderOf } from '../../cli/run.ts'
import { inForm, isLong } from '../../long.ts'
import {
  certificateOf,
  certificatesOfManyNames,
  type HostileLog,
  HUGE_CERTIFICATE,
  startHostileLog,
} from './hostile-log.ts'
import { logListOf } from './lists.ts'

const MAX_BYTES = 300_000_000
const REPORT = new URL('./report-memory.ts', import.meta.url).href
const options = existsSync('/proc/self/status') ? {} : { skip: 'the peak of the memory is known on Linux only' }

/** Reads the logs to their ends in one process. Returns its peak memory, and what it said of each log. */
async function readLogs(t: TestContext, hostile: readonly HostileLog[]) {
  const { runAlone, path } = folderOf(t)
  const logs = await Promise.all(hostile.map(async (log) => ({ ...log, lab: await startHostileLog(t, log) })))
  writeFileSync(path('list.json'), logListOf(logs))
  const env = {
    DOMAINDEX_CT_START_BACK: '100000000',
    MEMORY_FILE: path('memory'),
    NODE_OPTIONS: `--import ${REPORT}`,
  }
  const { stdout, stderr } = await runAlone(['fetch', 'ct', '--list', path('list.json'), '--once', '--json'], { env })
  assert.ok(existsSync(path('memory')), stderr)
  const results = JSON.parse(stdout).logs as { url: string; entries: number; problem: string | null }[]
  return {
    peak: Number(readFileSync(path('memory'), 'utf8')),
    results: logs.map(({ lab }) => {
      const found = results.find(({ url }) => url === lab.url)!
      return [found.entries, found.problem]
    }),
  }
}

const small = certificateOf(['www.shop.example'])
/**
 * Entries of 15 MiB, a response of some kilobytes for three of them; and four of them in a tile. Together they are larger
 * than the memory that is allowed.
 */
const hugeEntries: HostileLog = { kind: 'rfc6962', certificates: [HUGE_CERTIFICATE], entries: 36 }
const hugeTiles: HostileLog = {
  kind: 'tiles',
  certificates: Array.from({ length: 256 }, (_, index) => (index % 64 === 0 ? HUGE_CERTIFICATE : small)),
  entries: 2_048,
}

/** 1,500 distinct domains in each certificate. */
const names = (prefix: string): Buffer[] => certificatesOfManyNames(32, 1_500, prefix)
/** Tiles just below the size at which they are read in pieces. */
const plainTiles: HostileLog = {
  kind: 'tiles',
  certificates: Array.from({ length: 256 }, (_, index) =>
    Buffer.concat([certificateOf([`plain${index}.test`]), Buffer.alloc(7_900)]),
  ),
  entries: 8_192,
  isPlain: true,
}

/** The same entries and tiles are in the eight logs below, which together have as many. */
const alone: Record<string, readonly HostileLog[]> = {
  'a log of RFC 6962 with entries of 15 MiB': [hugeEntries],
  'a log with tiles of 60 MiB': [hugeTiles],
}
const logs: Record<string, readonly HostileLog[]> = {
  ...(isLong && alone),
  'a log of RFC 6962 with 1,500 names in each entry': [
    { kind: 'rfc6962', certificates: names('a'), entries: 512, perResponse: 256 },
  ],
  'a log with 48,000 names in each tile': [{ kind: 'tiles', certificates: names('b'), entries: 1_024 }],
  'a log with tiles of 2 MB without compression': [plainTiles],
  'eight logs with entries of 15 MiB': [
    ...Array.from({ length: 4 }, () => ({ ...hugeEntries, entries: inForm(8, 12) })),
    ...Array.from({ length: 4 }, () => ({ ...hugeTiles, entries: 512 })),
  ],
}

for (const [title, hostile] of Object.entries(logs))
  test(`${title}: every entry is verified in 300 MB`, options, async (t) => {
    const { peak, results } = await readLogs(t, hostile)
    assert.deepEqual(
      results,
      hostile.map(({ entries }) => [entries, null]),
    )
    t.diagnostic(`peak ${Math.round(peak / 1e6)} MB`)
    assert.ok(peak <= MAX_BYTES, `${peak} bytes`)
  })

test('a response of 66 MB of empty entries leaves the log out in 300 MB', options, async (t) => {
  const bomb = gzipSync(Buffer.from(`{"entries":[${'{},'.repeat(22_000_000)}{}]}`), { level: 1 })
  const { peak, results } = await readLogs(t, [
    { kind: 'rfc6962', certificates: [small], entries: 100, bodies: { 'get-entries': bomb } },
  ])
  assert.deepEqual(results, [[0, 'left out: it does not return the entries from 0 to 99']])
  assert.ok(peak <= MAX_BYTES, `${peak} bytes`)
})
