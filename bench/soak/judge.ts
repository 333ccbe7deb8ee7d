/** Compares answers of all endpoints with what the soak knows. */

import { gunzipSync } from 'node:zlib'
import {
  addressOf,
  type CrawledNames,
  checkHistory,
  type ImportedNames,
  type Moment,
  redirectTarget,
  type ShownHistory,
  statesIn,
} from './model.ts'

export const SOAK_ENDPOINTS = [
  { weight: 30, endpoint: 'lookup' },
  { weight: 30, endpoint: 'dnshistory' },
  { weight: 20, endpoint: 'reverseip' },
  { weight: 5, endpoint: 'redirect' },
  { weight: 5, endpoint: 'similar' },
  { weight: 5, endpoint: 'search' },
  { weight: 3, endpoint: 'daily' },
  { weight: 2, endpoint: 'snapshot' },
] as const
export type SoakEndpoint = (typeof SOAK_ENDPOINTS)[number]['endpoint']

export type Answer = { status: number; body: Buffer }
/** Null if the answer is right, or what is wrong with it. */
type Check = (answer: Answer) => string | null

/** Milliseconds after which the index of similar pages knows a text for certain, also beside faults. */
const INDEX_LAG_MS = 120_000

export class Judge {
  readonly #imported: ImportedNames
  readonly #crawled: CrawledNames
  /** The names of each day's list: how many the soak has written, and how many an answer has shown. */
  readonly #listed = new Map<string, { written: number; shown: number }>()
  #snapshotNames = 0

  constructor(imported: ImportedNames, crawled: CrawledNames) {
    this.#imported = imported
    this.#crawled = crawled
  }

  /** The list of a day has the first so many imported names from now on. */
  listWritten(day: string, count: number): void {
    this.#listed.set(day, { shown: 0, ...this.#listed.get(day), written: count })
  }

  /** Call it before the request: what its answer must be. */
  expect(endpoint: SoakEndpoint, query: string): Check {
    if (endpoint === 'daily') return this.#expectList(query)
    if (endpoint === 'snapshot') return this.#expectSnapshot()
    if (endpoint === 'search') return (answer) => checkSearch(query, answer)
    const endMoment = this.#imported.beginMoment()
    if (endpoint === 'redirect') return (answer) => this.#checkRedirect(query, endMoment(), answer)
    const index = this.#imported.indexOf(query)
    if (index === undefined) return (answer) => this.#checkCrawled(endpoint, query, answer)
    const check = { lookup: checkLookup, dnshistory, reverseip: checkNeighbours, similar: checkSimilar }[endpoint]
    return (answer) => check(endMoment(), index, answer)
  }

  #expectList(day: string): Check {
    const least = this.#listed.get(day)?.shown ?? 0
    return ({ status, body }) => {
      const most = this.#listed.get(day)?.written ?? 0
      if (status === 404) return least === 0 ? null : `${day}: 404 after ${least} names`
      const names = gunzipSync(body).toString().trimEnd().split('\n')
      const isAscending = names.every((name, position) => position === 0 || name > names[position - 1]!)
      const isOfList = names.every((name) => (this.#imported.indexOf(name) ?? names.length) < names.length)
      if (!isAscending || !isOfList || names.length < least || names.length > most)
        return `${day}: ${names.length} names, expected ${least} to ${most}, ascending ${isAscending}, of the list ${isOfList}`
      this.#listed.get(day)!.shown = Math.max(this.#listed.get(day)!.shown, names.length)
      return null
    }
  }

  #expectSnapshot(): Check {
    const least = this.#snapshotNames
    return ({ status, body }) => {
      if (status === 404) return least === 0 ? null : `404 after ${least} names`
      const { domains } = (parse(body) as { meta: { domains: number } }).meta
      this.#snapshotNames = Math.max(this.#snapshotNames, domains)
      return domains >= least ? null : `${domains} names after ${least}`
    }
  }

  #checkRedirect(query: string, moment: Moment, { body }: Answer): string | null {
    const expected = moment.namesWith((index, state) => index % 2 === 1 && redirectTarget(index + state) === query)
    const { result } = parse(body) as { result: { target: string }[] }
    return compareNames(
      query,
      moment,
      expected,
      result.map(({ target }) => target),
    )
  }

  #checkCrawled(endpoint: SoakEndpoint, query: string, { status, body }: Answer): string | null {
    if (endpoint === 'lookup' && status !== 200) return `${query}: ${status}`
    if (endpoint !== 'dnshistory') return null
    return this.#crawled.check(query, historyIn(body))
  }
}

const parse = (body: Buffer): unknown => JSON.parse(body.toString())

/** Of a certain name none may be missing, and no other than a possible one may be there. */
function compareNames(
  query: string,
  { names }: Moment,
  { certain, possible }: { certain: Set<number>; possible: Set<number> },
  shown: readonly string[],
): string | null {
  const indexes = new Set(shown.map((name) => names.indexOf(name) ?? -1))
  const missing = [...certain].filter((index) => !indexes.has(index))
  const surplus = [...indexes].filter((index) => !possible.has(index))
  if (missing.length === 0 && surplus.length === 0 && indexes.size === shown.length) return null
  const text = (list: number[]): string =>
    list
      .slice(0, 3)
      .map((index) => names.names[index])
      .join(' ')
  return `${query}: ${shown.length} rows, ${missing.length} missing ${text(missing)}, ${surplus.length} wrong ${text(surplus)}`
}

function checkLookup(moment: Moment, index: number, { status, body }: Answer): string | null {
  const name = moment.names.names[index]!
  const range = moment.range(index)
  if (status === 404) return range.first === 0 ? null : `${name}: 404 after ${range.first} states`
  const { result } = parse(body) as { result: { ip?: string; reverse_ip_count: string; redirect_count: string } }
  if (range.first === 0) return null
  const counts = statesIn(range)
    .filter((state) => state > 0)
    .map((state) => neighbours(moment, index, state))
  const least = Math.min(...counts.map(({ certain }) => certain.size))
  const most = Math.max(...counts.map(({ possible }) => possible.size))
  const count = Number(result.reverse_ip_count)
  const isRight = count >= least && count <= most && result.ip === 'v4only' && result.redirect_count === '0'
  return isRight ? null : `${name}: ${JSON.stringify(result)}, expected ${least} to ${most} neighbours`
}

function neighbours(moment: Moment, index: number, state: number) {
  return moment.namesWith((other, otherState) => other !== index && otherState === state)
}

function checkNeighbours(moment: Moment, index: number, { status, body }: Answer): string | null {
  const { names } = moment
  const name = names.names[index]!
  const range = moment.range(index)
  if (status === 404) return range.first === 0 ? null : `${name}: 404 after ${range.first} states`
  const { meta, result } = parse(body) as {
    meta: { ips: string[] }
    result: { target: string; ip: string; since: string }[]
  }
  const state = statesIn(range).find((each) => each > 0 && addressOf(each) === meta.ips.join())
  if (state === undefined) return `${name}: on ${meta.ips.join()}, expected states ${range.first} to ${range.last}`
  const wrong = result.find(({ target, ip, since }) => {
    const other = names.indexOf(target)
    return other === undefined || ip !== addressOf(state) || since !== names.instantOf(other, state)
  })
  if (wrong !== undefined) return `${name}: ${JSON.stringify(wrong)} at state ${state}`
  return compareNames(
    name,
    moment,
    neighbours(moment, index, state),
    result.map(({ target }) => target),
  )
}

function dnshistory(moment: Moment, index: number, { body }: Answer): string | null {
  return checkHistory(moment.names, index, moment.range(index), historyIn(body))
}

function checkSimilar(moment: Moment, index: number, { status, body }: Answer): string | null {
  const { names } = moment
  const name = names.names[index]!
  const topicsOf = (each: number) => names.topicsOf(each, moment.range(each), INDEX_LAG_MS)
  const { possible, certain } = topicsOf(index)
  if (status === 404) return certain === null ? null : `${name}: 404 with a text`
  const { result } = parse(body) as { result: { target: string; similarity: number }[] }
  const wrong = result.find(({ target, similarity }) => {
    const other = names.indexOf(target)
    if (other === undefined || other === index) return true
    return similarity < 0.9 || ![...topicsOf(other).possible].some((topic) => possible.has(topic))
  })
  if (wrong !== undefined) return `${name}: ${JSON.stringify(wrong)}, of topics ${[...possible].join()}`
  if (certain === null || result.length === 100) return null
  const shown = new Set(result.map(({ target }) => target))
  const missing = names.names.filter(
    (each, other) => other !== index && topicsOf(other).certain === certain && !shown.has(each),
  )
  return missing.length === 0 ? null : `${name}: ${missing.length} missing, such as ${missing[0]}`
}

function checkSearch(query: string, { status, body }: Answer): string | null {
  if (status === 404) return null
  const { result } = parse(body) as { result: { name: string }[] }
  const wrong = result.find(({ name }) => !name.includes(query))
  return wrong === undefined ? null : `${query}: ${wrong.name}`
}

/** The states of type A in a body of /dnshistory. */
export function historyIn(body: Buffer | string): ShownHistory {
  const { meta, result } = JSON.parse(body.toString()) as {
    meta: { totals: { A: number } }
    result: { A: { first_seen: string; records: { ipv4_address: string }[] }[] }
  }
  const states = result.A.map(({ first_seen, records }) => ({
    address: records[0]?.ipv4_address ?? '',
    since: first_seen,
  }))
  return { states, total: meta.totals.A }
}
