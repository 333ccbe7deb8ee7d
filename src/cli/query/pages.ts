/** The pages of the endpoints as rows: one row for each domain, neighbour or state. */

import { DomaindexError, type HistoryState, RECORD_TYPES, type RecordType } from '../../../client/src/client.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { alternativeNote } from '../../values/host-alternative.ts'
import { isNoSuchPath } from '../program/client-fault.ts'
import type { AskQuery, Page } from './ask-queries.ts'
import type { QueryCalls } from './batched-calls.ts'
import type { Row } from './row-writer.ts'

/** `limit`: the maximum number of rows, of dnshistory for each type. Neither `limit` nor `all`: one page. */
export type PageOptions = { limit?: number; all?: true; next?: string; type?: RecordType }

/** The pages of an endpoint for a domain or an address. */
export type AskEndpoint = (query: string, signal: AbortSignal) => AsyncGenerator<Page, void, void>

/** The filters of a search as options of the command. */
export type SearchFilters = {
  [Name in 'tld' | 'firstSeenFrom' | 'firstSeenTo' | 'registeredFrom' | 'registeredTo' | 'ip' | 'ns' | 'mx']?: string
} & { hasWebsite?: 'yes' | 'no' }

/** Days, or dates and times. `at` excludes the others. */
export type TimeOptions = { at?: string; from?: string; to?: string }

type CallOptions = { limit: number | null; next: string | null; signal: AbortSignal }
type CallPage = (options: CallOptions) => Promise<{ rows: readonly Row[]; next: string | null; note?: string }>

/** The largest page of any plan. The server reduces it to that of the account's plan. */
const MAX_PAGE_ROWS = 50_000

/** Follows the cursor as far as the options ask. `before`: options that are needed beside the cursor. */
async function* followPages(
  call: CallPage,
  { limit, all, next }: PageOptions,
  signal: AbortSignal,
  before = '',
): AsyncGenerator<Page, void, void> {
  let cursor = next ?? null
  let missing = limit ?? Number.POSITIVE_INFINITY
  const isPaged = all === true || limit !== undefined
  do {
    const page = await call({ limit: isPaged ? Math.min(missing, MAX_PAGE_ROWS) : null, next: cursor, signal })
    missing -= page.rows.length
    cursor = page.next
    const rest = cursor === null ? [] : [`${before}--next ${shellWord(cursor)}`]
    yield { rows: page.rows, rest, ...(page.note !== undefined && { note: page.note }) }
  } while (cursor !== null && missing > 0 && isPaged)
}

/** A text as one word of a shell: a cursor comes from the server, and the user pastes it. */
function shellWord(text: string): string {
  return /^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

export function askLookup(client: QueryCalls): AskEndpoint {
  return async function* (query, signal) {
    const { meta, result } = await client.lookup(query, { signal })
    yield { rows: [{ query: meta.query, ...result }], rest: [] }
  }
}

const NO_TIMES_NOTE =
  'this server does not say when it observed a domain: "no" and "nocert" can also mean that nobody has looked'

/** Asks for the facts that are known, and when they were observed; a server that cannot tell is asked for a look-up. */
export function askObserved(client: QueryCalls): AskEndpoint {
  let isLookup = false
  return async function* (query, signal) {
    const profile = isLookup
      ? null
      : await client.domain(query, { signal }).catch((error) => {
          if (isNoSuchPath(error)) return null
          throw error
        })
    if (profile === null) {
      const note = isLookup ? undefined : NO_TIMES_NOTE
      isLookup = true
      for await (const page of askLookup(client)(query, signal)) yield { ...page, note }
      return
    }
    const { name, requested, lookup, observed } = profile
    const rows = [{ query: name, ...lookup, dns_observed: observed.dns, web_observed: observed.web }]
    yield { rows, rest: [], ...joinNotes(alternativeNotes(requested, name)) }
  }
}

export function askSimilar(client: QueryCalls, { limit }: PageOptions): AskEndpoint {
  return async function* (query, signal) {
    const { meta, result } = await client.similar(query, { limit, signal })
    yield { rows: result.map((row) => ({ query: meta.query, ...row })), rest: [] }
  }
}

/** Asks /redirect or /reverseip. */
export function askRows(client: QueryCalls, endpoint: 'redirect' | 'reverseip', options: PageOptions): AskEndpoint {
  return (query, signal) => {
    const call: CallPage = async (page) => {
      const { meta, result } = await client[endpoint](query, page)
      return { rows: result.map((row) => ({ query: meta.query, ...row })), next: meta.next }
    }
    return followPages(call, options, signal)
  }
}

/** Asks for the domains that were on an address or a network, and when. */
export function askAddressTimes(client: QueryCalls, options: PageOptions & TimeOptions): AskEndpoint {
  return (query, signal) => {
    const { at, from, to } = options
    const call: CallPage = async (page) => {
      const { meta, result } = await client.addressTimes(query, { ...page, at, from, to })
      const notes = removedNotes(meta, page)
      return { rows: result.map((row) => ({ query: meta.query, ...row })), next: meta.next, ...joinNotes(notes) }
    }
    return followPages(call, options, signal, timeOptions(options))
  }
}

/** Asks for the states of the website of a domain. */
export function askWebHistory(client: QueryCalls, options: PageOptions): AskEndpoint {
  return (query, signal) =>
    followPages(async (page) => profileRows(await client.webhistory(query, page)), options, signal)
}

/** Asks for the domains that presented a certificate. Each row has what the certificate says. */
export function askCertificate(client: QueryCalls, options: PageOptions): AskEndpoint {
  return (query, signal) =>
    followPages(
      async (page) => {
        const { meta, result } = await client.certificate(query, page)
        const { sha256: _, logged, ...certificate } = meta.certificate
        const isOnlyLogged = result.length === 0 && page.next === null && meta.next === null && logged !== null
        return {
          rows: result.map((row) => ({ query: meta.query, ...row, ...certificate })),
          next: meta.next,
          ...(isOnlyLogged && {
            note: `no domain presented ${meta.query}, which a certificate log added at ${logged}`,
          }),
        }
      },
      options,
      signal,
    )
}

/** Asks for the certificates that a domain presented. */
export function askCertificateHistory(client: QueryCalls, options: PageOptions): AskEndpoint {
  return (query, signal) =>
    followPages(async (page) => profileRows(await client.certificatehistory(query, page)), options, signal)
}

/** Asks for the certificates that name a domain. */
export function askNamedCertificates(client: QueryCalls, options: PageOptions): AskEndpoint {
  return (query, signal) =>
    followPages(async (page) => profileRows(await client.namedcertificates(query, page)), options, signal)
}

/** Asks for the domains that redirected to a domain, and when. */
export function askRedirectHistory(client: QueryCalls, options: PageOptions & TimeOptions): AskEndpoint {
  return (query, signal) => {
    const { at, from, to } = options
    const call: CallPage = async (page) => {
      const body = await client.redirecthistory(query, { ...page, at, from, to })
      return profileRows(body, removedNotes(body.meta, page))
    }
    return followPages(call, options, signal, timeOptions(options))
  }
}

/** Asks for the names that a search finds. */
export function askSearch(client: QueryCalls, options: PageOptions & SearchFilters): AskEndpoint {
  const { tld, firstSeenFrom, firstSeenTo, registeredFrom, registeredTo, hasWebsite, ip, ns, mx } = options
  const filters = {
    ...{ tld, first_seen_from: firstSeenFrom, first_seen_to: firstSeenTo },
    ...{ registered_from: registeredFrom, registered_to: registeredTo, has_website: hasWebsite, ip, ns, mx },
  }
  const before = Object.entries(filters).map(([name, value]) =>
    value === undefined ? '' : `--${name.replaceAll('_', '-')} ${shellWord(value)} `,
  )
  return (query, signal) => {
    const call: CallPage = async (page) => {
      const { meta, result } = await client.search(query, { ...filters, ...page })
      return { rows: result.map((row) => ({ query: meta.query, ...row })), next: meta.next }
    }
    return followPages(call, options, signal, before.join(''))
  }
}

/** Asks for the names of a day that a search finds. */
export function askDayNames(
  client: QueryCalls,
  movement: 'registered' | 'dropped',
  { date, ...options }: PageOptions & { date?: string },
): AskEndpoint {
  return (q, signal) => {
    const call: CallPage = async (page) => {
      const { meta, result } = await client[movement](date!, { ...page, q })
      return { rows: result.map(({ name }) => ({ query: meta.query, date: meta.date, name })), next: meta.next }
    }
    return followPages(call, options, signal, `--date ${date} `)
  }
}

/** Asks for the lookalikes of a brand. */
export function askLookalikes(client: QueryCalls, options: PageOptions): AskEndpoint {
  return (query, signal) => {
    const call: CallPage = async (page) => {
      const { meta, result } = await client.lookalikes(query, page)
      const note = 'so many names have a candidate label that only a part of them is listed'
      const rows = result.map((row) => ({ query: meta.query, ...row }))
      return { rows, next: meta.next, ...(!meta.complete && { note }) }
    }
    return followPages(call, options, signal)
  }
}

type ProfilePage = { meta: { query: string; requested: string | null; next: string | null }; result: readonly object[] }

/** The rows of a page about a domain. `notes`: what to add to the note that it is about another name. */
function profileRows({ meta: { query, requested, next }, result }: ProfilePage, notes: readonly string[] = []) {
  const all = [...alternativeNotes(requested, query), ...notes]
  return { rows: result.map((row) => ({ query, ...row })), next, ...joinNotes(all) }
}

/** The note that the facts are about another name than the requested one, which is null if they are not. */
function alternativeNotes(requested: string | null, name: string): string[] {
  return requested === null ? [] : [alternativeNote({ host: requested as DomainName, domain: name as DomainName })]
}

/** The note that older history was removed, with the first page only. */
function removedNotes({ removed_before }: { removed_before: string | null }, { next }: CallOptions): string[] {
  if (removed_before === null || next !== null) return []
  return [
    `History from before ${removed_before} was removed: earlier rows may be missing, or begin later than they did.`,
  ]
}

const joinNotes = (notes: readonly string[]) => (notes.length === 0 ? {} : { note: notes.join(' ') })

const timeOptions = ({ at, from, to }: TimeOptions): string =>
  Object.entries({ at, from, to })
    .map(([name, value]) => (value === undefined ? '' : `--${name} ${shellWord(value)} `))
    .join('')

/** Asks for the records of a domain, now or as of a moment: one row for each type. */
export function askRecords(client: QueryCalls, { at }: TimeOptions): AskEndpoint {
  return async function* (query, signal) {
    const profile = await (at === undefined
      ? client.domain(query, { signal })
      : client.domainAsOf(query, at, { signal }))
    const { name, requested, lookup, records, former_records } = profile
    const rows = Object.entries(former_records ?? records).flatMap(([type, state]) =>
      state === null ? [] : [{ query: name, ip: lookup.ip, type, ...state }],
    )
    const notes = [
      ...alternativeNotes(requested, name),
      ...existenceNote(name, lookup.ip, 'at' in profile ? profile.at : null),
    ]
    yield { rows, rest: [], ...joinNotes(notes) }
  }
}

/** `at`: null for now. */
function existenceNote(name: string, ip: string | null, at: string | null): string[] {
  if (ip === 'nxdomain')
    return [`${name} ${at === null ? 'does not exist now' : `did not exist at ${at}`}: these are its former records.`]
  return ip === null && at !== null ? [`It is not on record whether ${name} existed at ${at}.`] : []
}

export function askHistory(client: QueryCalls, options: PageOptions): AskEndpoint {
  return (query, signal) => {
    const { type } = options
    if (type === undefined && options.next === undefined) return historyOfAllTypes(client, query, options, signal)
    return followPages(historyPages(client, query, type), options, signal, typeOption(type))
  }
}

const typeOption = (type: RecordType | undefined): string => (type === undefined ? '' : `--type ${type} `)

/** The pages of one type. Without `type`, the cursor has it. */
function historyPages(client: QueryCalls, query: string, type: RecordType | undefined): CallPage {
  return async (page) => {
    const { meta, result } = await client.dnshistory(query, { ...page, type })
    return { rows: stateRows(meta.query, result), next: meta.next ?? null }
  }
}

/** One page with all types, then the older states of the types that have more. */
async function* historyOfAllTypes(
  client: QueryCalls,
  query: string,
  { limit, all }: PageOptions,
  signal: AbortSignal,
): AsyncGenerator<Page, void, void> {
  const first = await client.dnshistory(query, { limit: all ? MAX_PAGE_ROWS : limit, signal })
  const { meta, result } = first
  const open = (meta.truncated ?? []).map((type) => ({ type, states: result[type] ?? [] }))
  const hints = open.map(
    ({ type, states }) => `${typeOption(type)}--next ${shellWord(states.at(-1)?.first_seen ?? '')}`,
  )
  yield { rows: stateRows(meta.query, result), rest: hints }
  if (limit === undefined && !all) return
  for (const [at, { type, states }] of open.entries()) {
    const missing = (limit ?? Number.POSITIVE_INFINITY) - states.length
    const next = states.at(-1)?.first_seen
    if (missing <= 0 || next === undefined) continue
    const rest = { next, ...(all ? { all } : { limit: missing }) }
    for await (const page of followPages(historyPages(client, query, type), rest, signal, typeOption(type))) {
      hints[at] = page.rest[0] ?? ''
      yield { rows: page.rows, rest: hints.filter((hint) => hint !== '') }
    }
  }
}

function stateRows(query: string, result: Partial<Record<RecordType, readonly HistoryState[]>>): Row[] {
  return RECORD_TYPES.flatMap((type) => (result[type] ?? []).map((state) => ({ query, type, ...state })))
}

/**
 * Makes up to 2 further calls: a look-up of the host, unless `isLookup` says that `ask` is one, and the same question
 * for its registrable domain.
 */
export function orRegistrableDomain(client: Pick<QueryCalls, 'lookup'>, ask: AskEndpoint, isLookup: boolean): AskQuery {
  return async function* ({ value, alternative }, signal) {
    const pages = ask(value, signal)
    if (alternative === null) return yield* pages
    const first: Page | DomaindexError = await firstPage(pages)
    if (isOfOtherQuery(first) || (isNothing(first) && (isLookup || (await isUnknown(client, value, signal))))) {
      let note: string | undefined = alternativeNote(alternative)
      for await (const page of ask(alternative.domain, signal)) {
        yield note === undefined ? page : { ...page, note }
        note = undefined
      }
      return
    }
    if (first instanceof DomaindexError) throw first
    yield first
    yield* pages
  }
}

async function firstPage(pages: AsyncGenerator<Page, void, void>): Promise<Page | DomaindexError> {
  try {
    return (await pages.next()).value as Page
  } catch (error) {
    if (error instanceof DomaindexError) return error
    throw error
  }
}

/** Whether a cursor is of another query: that of an earlier page, which was answered for the registrable domain. */
function isOfOtherQuery(first: Page | DomaindexError): boolean {
  return first instanceof DomaindexError && first.error === 'cursor_mismatch'
}

function isNothing(first: Page | DomaindexError): boolean {
  return first instanceof DomaindexError ? first.error === 'no_data' : first.rows.length + first.rest.length === 0
}

async function isUnknown(client: Pick<QueryCalls, 'lookup'>, host: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.lookup(host, { signal })
    return false
  } catch (error) {
    if (error instanceof DomaindexError && error.error === 'no_data') return true
    throw error
  }
}
