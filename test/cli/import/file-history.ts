/**
 * The history of the names in an observation file, computed from its lines alone: what the inverse index and the answers
 * as of a date must say. It shares no code with the project.
 */

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

type Line = { domain: string; observed_at: string; dns?: { status: string } & Partial<Record<string, unknown[]>> }
/** One observation of a record type. `isInterrupted`: the name was observed not to exist since the one before. */
type Sighting = { at: number; records: unknown[]; isInterrupted: boolean }
/** `sightings`: of each record type, oldest first. `absences`: when the name did not exist. */
type NameHistory = { sightings: Map<string, Sighting[]>; statusAt: number; absences: number[] }

/** A mail server that is none. The import refuses the line. */
const SPACE_IN_HOST = /"mail_server":"[^" ]* /
export const TYPES = ['A', 'AAAA', 'NS', 'MX', 'CNAME', 'TXT', 'SOA']

/** The histories by name. A line that is not newer than an earlier one of its name and type says nothing. */
export function readHistories(path: string): Map<string, NameHistory> {
  const histories = new Map<string, NameHistory>()
  for (const text of gunzipSync(readFileSync(path)).toString().trimEnd().split('\n')) {
    const { domain, observed_at, dns } = JSON.parse(text) as Line
    if (dns === undefined || SPACE_IN_HOST.test(text)) continue
    const at = Date.parse(observed_at) / 1000
    const history: NameHistory = histories.get(domain) ?? { sightings: new Map(), statusAt: 0, absences: [] }
    histories.set(domain, history)
    for (const type of TYPES) {
      const records = dns.status === 'ok' ? dns[type] : undefined
      if (records === undefined) continue
      const earlier = history.sightings.get(type) ?? []
      const before = earlier.at(-1)?.at ?? 0
      if (at <= before) continue
      earlier.push({
        at,
        records,
        isInterrupted: history.absences.some((absence) => absence > before && absence <= at),
      })
      history.sightings.set(type, earlier)
    }
    if (dns.status === 'nxdomain' && at > history.statusAt) history.absences.push(at)
    history.statusAt = Math.max(history.statusAt, at)
  }
  return histories
}

/** Every span in a text of its own: type, data, name, first and last time. */
export function spansOf(histories: ReadonlyMap<string, NameHistory>): Set<string> {
  const spans = new Set<string>()
  for (const [name, { sightings }] of histories)
    for (const [type, list] of sightings) {
      const open = new Map<string, { first: number; last: number }>()
      const end = (data: string): void => {
        const { first, last } = open.get(data)!
        spans.add([type, data, name, first, last].join(' '))
        open.delete(data)
      }
      for (const { at, records, isInterrupted } of list) {
        const present = new Set(records.flatMap((record) => inverseData(type, record)))
        for (const data of [...open.keys()]) if (isInterrupted || !present.has(data)) end(data)
        for (const data of present) open.set(data, { first: open.get(data)?.first ?? at, last: at })
      }
      for (const data of [...open.keys()]) end(data)
    }
  return spans
}

/** What a record says to someone who asks backwards. */
function inverseData(type: string, record: unknown): string[] {
  if (type === 'A') return [record as string]
  if (type === 'AAAA') return [new URL(`http://[${record}]/`).hostname.slice(1, -1)]
  if (type === 'TXT') return [JSON.stringify(partsOf(record))]
  if (type === 'MX') {
    const { priority, mail_server } = record as { priority: number; mail_server: string }
    return [`${priority} ${hostOf(mail_server)}`]
  }
  if (type !== 'SOA') return [hostOf(record as string)]
  const { primary_nameserver, admin_email } = record as { primary_nameserver: string; admin_email: string }
  const [mailbox = '', host = ''] = admin_email.split('@')
  return [
    `primary_nameserver ${hostOf(primary_nameserver)}`,
    `admin_email ${hostOf(`${mailbox.replaceAll('.', '\\.')}.${host}`)}`,
  ]
}

/** A backslash that begins no escape is itself written as an escape. */
function partsOf(record: unknown): string[] {
  return (record as string[]).map((part) => part.replace(/\\(?![\\\d])/g, '$&$&'))
}

function hostOf(text: string): string {
  return text.toLowerCase().replace(/(?<=.)\.$/, '')
}

/**
 * What was known of a type at a moment: the values of the records, when the set was first seen, and the end of the
 * uninterrupted time that the moment is in or follows. Null: nothing.
 */
export function stateAt({ sightings }: NameHistory, type: string, moment: number) {
  const list = sightings.get(type) ?? []
  const index = list.findLastIndex(({ at }) => at <= moment)
  if (index < 0) return null
  const values = valuesOf(type, list[index]!)
  let first = index
  while (first > 0 && valuesOf(type, list[first - 1]!) === values) first--
  let last = index
  const isCut = ({ isInterrupted }: Sighting): boolean => isInterrupted && values !== '[]'
  while (list[last + 1] && !isCut(list[last + 1]!) && valuesOf(type, list[last + 1]!) === values) last++
  return { values, first_seen: list[first]!.at, last_seen: list[last]!.at }
}

function valuesOf(type: string, { records }: Sighting): string {
  return JSON.stringify([...new Set(records.map((record) => plainValues(type, record)))].sort())
}

/** The values of a record in one text. */
function plainValues(type: string, record: unknown): string {
  if (type === 'A' || type === 'AAAA') return inverseData(type, record)[0]!
  if (type === 'TXT') return partsOf(record).join('\n')
  if (type === 'NS' || type === 'CNAME') return hostOf(record as string)
  const values = Object.values(record as object).filter((value) => value !== null)
  return values.map((value) => (typeof value === 'string' ? hostOf(value) : value)).join('\n')
}
