/** A plain model of watches: every difference of every observation is compared with every watch. */

import { BlockList, isIPv6 } from 'node:net'
import type { DnsPart, Observation, WebPart } from '../../../../src/observe/observation.ts'
import type { DomainName } from '../../../../src/values/domain-name.ts'
import { RECORD_TYPES } from '../../../../src/values/records/dns-record.ts'
import type { Instant } from '../../../../src/values/time.ts'
import type { WatchRule } from '../../../../src/watch/watch.ts'

type Json = Record<string, unknown>
/** One difference of an event. `text`: its JSON. */
export type ModelRow = { watch: number; name: DomainName; observed_at: Instant | null; text: string }

type Known = {
  clocks: Record<string, Instant>
  status: string | null
  records: Record<string, readonly Json[]>
  web: WebPart | null
  certificate: string | null
}

const FLAGS = ['has_website', 'redirect_to_https', 'redirect_to_www', 'only_with_www', 'ssl'] as const
const AHEAD = 300

export class WatchModel {
  readonly #now: Instant
  readonly #known = new Map<DomainName, Known>()
  readonly #forgotten = new Set<DomainName>()
  /** The watches that are not muted, by number. */
  readonly watches = new Map<number, WatchRule>()
  rows: ModelRow[] = []

  constructor(now: Instant) {
    this.#now = now
  }

  forget(name: DomainName): void {
    this.#forgotten.add(name)
    this.#known.delete(name)
    this.rows = this.rows.filter((row) => row.name !== name)
  }

  addName(name: DomainName): void {
    if (this.#forgotten.has(name) || this.#known.has(name)) return
    this.#known.set(name, { clocks: {}, status: null, records: {}, web: null, certificate: null })
    this.#note(name, null, { type: 'new' }, [])
  }

  observe({ domain: name, observed_at: at, dns, web }: Observation): void {
    if (at > this.#now + AHEAD || this.#forgotten.has(name)) return
    const known = this.#known.get(name) ?? { clocks: {}, status: null, records: {}, web: null, certificate: null }
    if (!this.#known.has(name)) this.#note(name, at, { type: 'new' }, [])
    this.#known.set(name, known)
    if (dns) this.#observeDns(name, known, at, dns)
    if (web) this.#observeWeb(name, known, at, web)
  }

  #observeDns(name: DomainName, known: Known, at: Instant, { status, records }: DnsPart): void {
    const isNewer = at > (known.clocks.status ?? 0)
    for (const type of RECORD_TYPES) {
      const present = records[type] as readonly Json[] | undefined
      if (present === undefined || at <= (known.clocks[type] ?? 0)) continue
      known.clocks[type] = at
      const former = known.records[type] ?? []
      known.records[type] = present
      const without = (some: readonly Json[], others: readonly Json[]) =>
        some.filter((each) => !others.some((other) => JSON.stringify(other) === JSON.stringify(each)))
      const [added, removed] = [without(present, former), without(former, present)]
      if (added.length + removed.length === 0 || (type === 'SOA' && isSerialOnly(former, present))) continue
      const changed = [...added, ...removed]
      const hosts = changed.map((record) => String(record.nameserver ?? record.mail_server ?? ''))
      const addresses = changed.map((record) => String(record.ipv4_address ?? record.ipv6_address ?? ''))
      const subjects = type === 'NS' || type === 'MX' || type === 'A' || type === 'AAAA'
      const kind = type === 'NS' ? 'nameserver' : type === 'MX' ? 'mailserver' : 'address'
      const about = subjects ? [{ kind, values: kind === 'address' ? addresses : hosts }] : []
      this.#note(name, at, { type: 'records', record_type: type, added, removed }, about)
    }
    if (!isNewer) return
    known.clocks.status = at
    if ((known.status === 'nxdomain') !== (status === 'nxdomain'))
      this.#note(name, at, { type: 'status', before: known.status, after: status }, [])
    known.status = status
  }

  #observeWeb(name: DomainName, known: Known, at: Instant, web: WebPart): void {
    if (web.certificate !== undefined && at > (known.clocks.certificate ?? 0)) {
      known.clocks.certificate = at
      const sha256 = web.certificate?.sha256 ?? null
      if (sha256 !== known.certificate) {
        const after = web.certificate ? { sha256, names: web.certificate.names } : null
        const hosts = (web.certificate?.names ?? []).map((each) => each.replace('*.', ''))
        const about = [{ kind: 'certificate', values: hosts }]
        this.#note(name, at, { type: 'certificate', before: known.certificate, after }, about)
      }
      known.certificate = sha256
    }
    if (at <= (known.clocks.web ?? 0)) return
    known.clocks.web = at
    const former = known.web
    known.web = web
    const fields = FLAGS.filter((field) => former === null || former[field] !== web[field])
    const pick = (part: WebPart) => Object.fromEntries(fields.map((field) => [field, part[field]]))
    if (fields.length > 0)
      this.#note(name, at, { type: 'website', before: former && pick(former), after: pick(web) }, [])
    const hosts = [former, web].map((part) => part && (part.redirect_host ?? part.redirects_to))
    if ((hosts[0] ?? null) !== (hosts[1] ?? null)) {
      const about = [{ kind: 'redirect', values: hosts.map((each) => each ?? '') }]
      this.#note(name, at, { type: 'redirect', before: hosts[0] ?? null, after: hosts[1] ?? null }, about)
    }
    if (former?.text && former.text !== web.text)
      this.#note(name, at, { type: 'text', percent: differingWords(former.text, web.text ?? '') }, [])
  }

  #note(name: DomainName, at: Instant | null, difference: Json, about: { kind: string; values: string[] }[]): void {
    for (const [watch, rule] of this.watches) {
      const { kind, value, threshold, types } = rule
      if (types !== null && !types.includes(difference.type as never)) continue
      const isText = difference.type === 'text'
      const isMatch =
        kind === 'text'
          ? isText && name === value && (difference.percent as number) >= threshold!
          : !isText &&
            (matchesName(rule, name) || about.some((each) => each.kind === kind && isAbout(rule, each.values)))
      if (isMatch) this.rows.push({ watch, name, observed_at: at, text: JSON.stringify(difference) })
    }
  }
}

function isSerialOnly(former: readonly Json[], present: readonly Json[]): boolean {
  if (former.length !== 1 || present.length !== 1) return false
  return JSON.stringify({ ...former[0], serial: 0 }) === JSON.stringify({ ...present[0], serial: 0 })
}

/** In percent, rounded down: the words that only one text has, each as often as it occurs. */
function differingWords(one: string, other: string): number {
  const wordsIn = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? []
  const [words, others] = [wordsIn(one), wordsIn(other)]
  const rest = [...others]
  let common = 0
  for (const word of words) {
    const index = rest.indexOf(word)
    if (index < 0) continue
    rest.splice(index, 1)
    common++
  }
  return Math.floor((100 * (words.length + others.length - 2 * common)) / (words.length + others.length - common))
}

function matchesName({ kind, value }: WatchRule, name: string): boolean {
  if (kind === 'name') return name === value
  if (kind === 'suffix') return name.endsWith(`.${value}`)
  if (kind !== 'pattern') return false
  const parts = value.split('*').map((part) => part.replaceAll('.', '\\.').replaceAll('?', '.'))
  return new RegExp(`^${parts.join('.*')}$`).test(name)
}

/** Whether one of some hosts or addresses is what a watch is about. */
export function isAbout({ kind, value }: WatchRule, values: readonly string[]): boolean {
  if (kind !== 'address') return values.some((each) => each === value || each.endsWith(`.${value}`))
  const [address = '', length] = value.split('/')
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  const list = new BlockList()
  if (length === undefined) return values.includes(value)
  list.addSubnet(address, Number(length), family)
  return values.some((each) => each !== '' && isIPv6(each) === isIPv6(address) && list.check(each, family))
}
