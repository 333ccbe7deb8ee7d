/**
 * Prints the table of docs/getting-data.md: what each source of names holds, and how long its first sweep takes.
 * `node scripts/data-sources.ts`
 */

import { KNOWN_ZONES } from '../src/fetch/axfr/known-zones.ts'
import { KNOWN_LISTS } from '../src/fetch/list/known-lists.ts'

/** `names`: about how many. `command`: what fetches them. */
type NameSource = { command: string; names: number; terms: string; source: string }

/** Probes per second: the default of DOMAINDEX_CRAWL_RATE, and what larger installations set. */
const RATES = [20, 100, 400]
/** Bytes in the store of a probed name (docs/performance.md, Large stores: 0.8 GB for a million names). */
const BYTES_PER_NAME = 800
const SECONDS_PER_DAY = 86_400

const SOURCES: readonly NameSource[] = [
  ...Object.entries(KNOWN_ZONES)
    .map(([zone, row]) => ({ ...row, command: `fetch axfr ${zone}` }))
    .sort((a, b) => b.names - a.names),
  ...Object.entries(KNOWN_LISTS).map(([list, row]) => ({ ...row, command: `fetch list ${list}` })),
]

/** The table in Markdown. */
export function sourceTable(): string {
  const all = Object.values(KNOWN_ZONES).reduce((sum, { names }) => sum + names, 0)
  const rows = [
    ...SOURCES.map(rowOf),
    rowOf({ command: 'fetch axfr --known', names: all, terms: 'those of the zones', source: '' }),
  ]
  const head = `| command | names, about | in the store | first sweep at ${RATES.map((rate) => `${rate}`).join(' / ')} probes per second | terms of use |`
  return [head, '|---|---|---|---|---|', ...rows].join('\n')
}

function rowOf({ command, names, terms, source }: NameSource): string {
  const sweeps = RATES.map((rate) => durationText(names / rate)).join(' / ')
  const link = source === '' ? terms : `[${terms}](${source})`
  return `| \`${command}\` | ${names.toLocaleString('en')} | ${sizeText(names * BYTES_PER_NAME)} | ${sweeps} | ${link} |`
}

function durationText(seconds: number): string {
  if (seconds < 3_600) return `${Math.max(1, Math.round(seconds / 60))} min`
  if (seconds < 2 * SECONDS_PER_DAY) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / SECONDS_PER_DAY)} days`
}

function sizeText(bytes: number): string {
  return bytes < 1e6
    ? `${Math.ceil(bytes / 1e3)} kB`
    : bytes < 1e9
      ? `${Math.round(bytes / 1e6)} MB`
      : `${(bytes / 1e9).toFixed(1)} GB`
}

if (import.meta.main) console.log(sourceTable())
