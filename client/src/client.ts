/** The client of a domaindex server: one method for each endpoint, and iterators that follow the pages. */

import type {
  AddressTimesResponse,
  CertificatehistoryResponse,
  CertificateResponse,
  DayNamesParameters,
  DayNamesResponse,
  DnshistoryParameters,
  DnshistoryResponse,
  DomainAsOfResponse,
  DomainResponse,
  EventsResponse,
  FilesResponse,
  IpResponse,
  LookalikesResponse,
  LookupResponse,
  NamedcertificatesResponse,
  PreviewResponse,
  QuotaResponse,
  RedirecthistoryResponse,
  RedirectParameters,
  RedirectResponse,
  ReverseipParameters,
  ReverseipResponse,
  SearchParameters,
  SearchResponse,
  SimilarParameters,
  SimilarResponse,
  SnapshotResponse,
  WatchesResponse,
  WebhistoryResponse,
} from './api-types.ts'
import { type BatchAnswer, type BatchRequest, batchAnswers } from './batch.ts'
import { Digest } from './digest.ts'
import { type Download, type DownloadOptions, openDownload } from './download.ts'
import { Feed } from './feed.ts'
import { Rows } from './rows.ts'
import { Sha256, type Sha256Hasher } from './sha256.ts'
import { type CallOptions, type ClientOptions, Transport } from './transport.ts'
import { Webhooks } from './webhooks.ts'

export type * from './api-types.ts'
export type { BatchAnswer, BatchRequest } from './batch.ts'
export type { Digest } from './digest.ts'
export type { Download, DownloadOptions, Resume } from './download.ts'
export { DomaindexError, DownloadError, InvalidResponseError, NetworkError } from './errors.ts'
export type { Feed } from './feed.ts'
export type { Rows } from './rows.ts'
export { Sha256, type Sha256Hasher } from './sha256.ts'
export type { CallOptions, ClientOptions, Fetch } from './transport.ts'
export type { CreatedWebhook, Delivery, NewWebhook, Webhook, Webhooks } from './webhooks.ts'

/** The types of DNS records that the service knows. */
export const RECORD_TYPES = ['A', 'AAAA', 'MX', 'TXT', 'NS', 'SOA', 'CNAME'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

export type RedirectRow = RedirectResponse['result'][number]
export type ReverseipRow = ReverseipResponse['result'][number]
export type SimilarRow = SimilarResponse['result'][number]
export type FileEntry = FilesResponse['files'][number]
/** The records of a type from a time on. */
export type HistoryState<T extends RecordType = RecordType> = NonNullable<DnshistoryResponse['result'][T]>[number]

/** The optional parameters of an endpoint. Null is the same as absent. */
type Options<Parameters, Key extends string> = CallOptions & {
  [Name in keyof Omit<Parameters, Key>]?: Omit<Parameters, Key>[Name] | null | undefined
}
export type WebState = WebhistoryResponse['result'][number]
export type DomainCertificate = CertificatehistoryResponse['result'][number]
/** A certificate that names a domain. */
export type NamingCertificate = NamedcertificatesResponse['result'][number]
export type CertificateRow = CertificateResponse['result'][number]
export type RedirecthistoryRow = RedirecthistoryResponse['result'][number]
export type AddressTimesRow = AddressTimesResponse['result'][number]
export type LookalikesRow = LookalikesResponse['result'][number]
export type Watch = WatchesResponse['watches'][number]
export type WatchEvent = EventsResponse['result'][number]
/** A watch to create. `types`: the differences that match. `threshold`: of the kind `text` in percent, of `lookalikes` the minimum score. */
export type NewWatch = Pick<Watch, 'kind' | 'value'> & {
  types?: Watch['types'] | undefined
  threshold?: number | null | undefined
}
/**
 * `after`: the last `meta.next`. `wait`: seconds to wait for an event, 30 at most. `before`: only earlier events, newest
 * first; not with the others.
 */
export type EventOptions = CallOptions & {
  [Name in 'after' | 'limit' | 'wait']?: number | null | undefined
} & { before?: number | 'now' | null | undefined }
export type SearchRow = SearchResponse['result'][number]
/** The filters of a search, with the names of the API. Times are days (`YYYY-MM-DD`), or dates and times. */
export type SearchOptions = Options<SearchParameters, 'q'>
/** `q`: a search, as for `search`. */
export type DayNamesOptions = Options<DayNamesParameters, 'date'>
export type DayNamesRow = DayNamesResponse['result'][number]
/** Days (`YYYY-MM-DD`), or dates and times. `at` excludes the others. */
export type TimeOptions = PageOptions & {
  at?: string | null | undefined
  from?: string | null | undefined
  to?: string | null | undefined
}
type PageOptions = Options<RedirectParameters, 'query'>

export class DomaindexClient {
  /** Where the events of the account are sent. */
  readonly webhooks: Webhooks
  readonly digest: Digest
  readonly feed: Feed
  readonly #transport: Transport
  readonly #newHash: () => Sha256Hasher

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options)
    this.webhooks = new Webhooks(this.#transport)
    this.digest = new Digest(this.#transport)
    this.feed = new Feed(this.#transport)
    this.#newHash = options.sha256 ?? (() => new Sha256())
  }

  /** The key characteristics of a domain. */
  lookup(query: string, { signal }: CallOptions = {}): Promise<LookupResponse> {
    return this.#transport.query('lookup', { query }, signal)
  }

  /** A page of the domains that redirect to a domain. */
  redirect(query: string, { signal, ...page }: PageOptions = {}): Promise<RedirectResponse> {
    return this.#transport.query('redirect', { ...page, query }, signal)
  }

  /** All domains that redirect to a domain. `limit`: rows per page. */
  redirectRows(query: string, options: PageOptions = {}): Rows<RedirectRow> {
    return rowsOf((page) => this.redirect(query, page), options)
  }

  /** A page of the domains that share an address with a domain, or that are on an address. */
  reverseip(
    query: string,
    { signal, ...page }: Options<ReverseipParameters, 'query'> = {},
  ): Promise<ReverseipResponse> {
    return this.#transport.query('reverseip', { ...page, query }, signal)
  }

  /** All domains that share an address with a domain, or that are on an address. `limit`: rows per page. */
  reverseipRows(query: string, options: PageOptions = {}): Rows<ReverseipRow> {
    return rowsOf((page) => this.reverseip(query, page), options)
  }

  /** The states of the DNS records of a domain, newest first: of all types at once, or a page of one `type`. */
  dnshistory(
    query: string,
    { signal, ...page }: Options<DnshistoryParameters, 'query'> = {},
  ): Promise<DnshistoryResponse> {
    return this.#transport.query('dnshistory', { ...page, query }, signal)
  }

  /** All states of one record type of a domain, newest first. `limit`: states per page. */
  dnshistoryStates<T extends RecordType>(
    query: string,
    { next, ...options }: Options<DnshistoryParameters, 'query' | 'type'> & { type: T },
  ): Rows<HistoryState<T>> {
    return new Rows(async (cursor) => {
      const { meta, result } = await this.dnshistory(query, { ...options, next: cursor })
      return { rows: (result[options.type] ?? []) as HistoryState<T>[], next: meta.next ?? null }
    }, next ?? null)
  }

  /** The websites whose start page has a text similar to that of a domain. */
  similar(query: string, { signal, ...page }: Options<SimilarParameters, 'query'> = {}): Promise<SimilarResponse> {
    return this.#transport.query('similar', { ...page, query }, signal)
  }

  /**
   * Many calls in few requests, answered in their order. Each is charged as a call of its endpoint. A call that the
   * server refuses has an error in its answer, and the others go on.
   */
  batch<Request extends BatchRequest>(
    requests: Iterable<Request> | AsyncIterable<Request>,
    { signal }: CallOptions = {},
  ): AsyncGenerator<BatchAnswer<Request>, void, void> {
    return batchAnswers(this.#transport, requests, signal)
  }

  /** The report on the newest snapshot. `enriched`: on the edition with further columns. */
  snapshot({
    enriched = false,
    signal,
  }: CallOptions & { enriched?: boolean | undefined } = {}): Promise<SnapshotResponse> {
    return this.#transport.query('snapshot', enriched ? { enriched: '1' } : {}, signal)
  }

  /** Everything current about a domain. */
  domain(name: string, { signal }: CallOptions = {}): Promise<DomainResponse> {
    return this.#transport.get(`domain/${encodeURIComponent(name)}`, signal)
  }

  /** What was known of the DNS of a domain at a moment: a day (`YYYY-MM-DD`), or a date and time. */
  domainAsOf(name: string, at: string, { signal }: CallOptions = {}): Promise<DomainAsOfResponse> {
    return this.#transport.get(`domain/${encodeURIComponent(name)}?${new URLSearchParams({ at })}`, signal)
  }

  /** A page of the states of the website of a domain, newest first. */
  webhistory(name: string, { signal, ...page }: PageOptions = {}): Promise<WebhistoryResponse> {
    return this.#transport.get(`domain/${encodeURIComponent(name)}/web${searchOf(page)}`, signal)
  }

  /** All states of the website of a domain, newest first. `limit`: states per page. */
  webhistoryStates(name: string, options: PageOptions = {}): Rows<WebState> {
    return rowsOf((page) => this.webhistory(name, page), options)
  }

  /**
   * A page of the domains that redirected to a domain or to a host below it: at the moment `at`, or from `from` to `to`.
   * Without a time: present and past. A page may be short, or empty, although `meta.next` is not null.
   */
  redirecthistory(name: string, { signal, ...options }: TimeOptions = {}): Promise<RedirecthistoryResponse> {
    return this.#transport.get(`domain/${encodeURIComponent(name)}/redirects${searchOf(options)}`, signal)
  }

  /** All domains that redirected to a domain. `limit`: rows per page. */
  redirecthistoryRows(name: string, options: TimeOptions = {}): Rows<RedirecthistoryRow> {
    return rowsOf((page) => this.redirecthistory(name, page), options)
  }

  /** A page of the certificates that a domain presented, newest first. */
  certificatehistory(name: string, { signal, ...page }: PageOptions = {}): Promise<CertificatehistoryResponse> {
    return this.#transport.get(`domain/${encodeURIComponent(name)}/certificates${searchOf(page)}`, signal)
  }

  /** All certificates that a domain presented, newest first. `limit`: certificates per page. */
  certificatehistoryRows(name: string, options: PageOptions = {}): Rows<DomainCertificate> {
    return rowsOf((page) => this.certificatehistory(name, page), options)
  }

  /** A page of the certificates that have a domain, its wildcard or a name below it among their names. */
  namedcertificates(name: string, { signal, ...page }: PageOptions = {}): Promise<NamedcertificatesResponse> {
    return this.#transport.get(`domain/${encodeURIComponent(name)}/named-certificates${searchOf(page)}`, signal)
  }

  /** All certificates that name a domain. `limit`: rows per page. */
  namedcertificatesRows(name: string, options: PageOptions = {}): Rows<NamingCertificate> {
    return rowsOf((page) => this.namedcertificates(name, page), options)
  }

  /** A certificate by its SHA-256 in hex, and a page of the domains that presented it. */
  certificate(sha256: string, { signal, ...page }: PageOptions = {}): Promise<CertificateResponse> {
    return this.#transport.get(`certificate/${encodeURIComponent(sha256)}${searchOf(page)}`, signal)
  }

  /** All domains that presented a certificate. `limit`: rows per page. */
  certificateRows(sha256: string, options: PageOptions = {}): Rows<CertificateRow> {
    return rowsOf((page) => this.certificate(sha256, page), options)
  }

  /** The first domains on an address, and the number of all. */
  ip(address: string, { signal }: CallOptions = {}): Promise<IpResponse> {
    return this.#transport.get(`ip/${encodeURIComponent(address)}`, signal)
  }

  /**
   * A page of the domains that were on an address or a network (`192.0.2.0/24`): at the moment `at`, or from `from` to
   * `to`. Without a time: present and past. A page may be short, or empty, although `meta.next` is not null.
   */
  addressTimes(query: string, { signal, ...options }: TimeOptions = {}): Promise<AddressTimesResponse> {
    const { at, from, to } = options
    const isProfile = !query.includes('/') && (at ?? from ?? to) == null
    const addresses = isProfile ? `${query}/${query.includes(':') ? 128 : 32}` : query
    return this.#transport.get(`ip/${encodeURIComponent(addresses)}${searchOf(options)}`, signal)
  }

  /** All domains that were on an address or a network. `limit`: rows per page. */
  addressTimesRows(query: string, options: TimeOptions = {}): Rows<AddressTimesRow> {
    return rowsOf((page) => this.addressTimes(query, page), options)
  }

  /**
   * A page of the known names that contain a text, match a pattern such as `bank*`, or a regular expression between
   * slashes. A page may be short, or empty, although `meta.next` is not null.
   */
  search(q: string, { signal, ...options }: SearchOptions = {}): Promise<SearchResponse> {
    return this.#transport.get(`search${searchOf({ q, ...options })}`, signal)
  }

  /** A page of the known names that can be taken for the domain of a brand, the highest score first. */
  lookalikes(of: string, { signal, ...page }: PageOptions = {}): Promise<LookalikesResponse> {
    return this.#transport.get(`lookalikes${searchOf({ of, ...page })}`, signal)
  }

  /** All lookalikes of a brand, and the names that only contain its label. `limit`: rows per page. */
  lookalikesRows(of: string, options: PageOptions = {}): Rows<LookalikesRow> {
    return rowsOf((page) => this.lookalikes(of, page), options)
  }

  /** All names that a search finds. `limit`: rows per page. */
  searchRows(q: string, options: SearchOptions = {}): Rows<SearchRow> {
    return rowsOf((page) => this.search(q, page), options)
  }

  /** A page of the names that were registered on a day (`YYYY-MM-DD`), all or those that a search finds. */
  registered(date: string, { signal, ...options }: DayNamesOptions = {}): Promise<DayNamesResponse> {
    return this.#transport.get(`registered${searchOf({ date, ...options })}`, signal)
  }

  /** All names that were registered on a day. `limit`: rows per page. */
  registeredRows(date: string, options: DayNamesOptions = {}): Rows<DayNamesRow> {
    return rowsOf((page) => this.registered(date, page), options)
  }

  /** A page of the names that were dropped on a day (`YYYY-MM-DD`), all or those that a search finds. */
  dropped(date: string, { signal, ...options }: DayNamesOptions = {}): Promise<DayNamesResponse> {
    return this.#transport.get(`dropped${searchOf({ date, ...options })}`, signal)
  }

  /** All names that were dropped on a day. `limit`: rows per page. */
  droppedRows(date: string, options: DayNamesOptions = {}): Rows<DayNamesRow> {
    return rowsOf((page) => this.dropped(date, page), options)
  }

  /** The watches of the account, and how many it may have. It costs nothing. */
  watches({ signal }: CallOptions = {}): Promise<WatchesResponse> {
    return this.#transport.get('watches', signal)
  }

  /** Creates a watch. It costs nothing. A call that fails is not repeated. */
  async createWatch({ kind, value, types, threshold }: NewWatch, { signal }: CallOptions = {}): Promise<Watch> {
    return (await this.#transport.change<Watch>('POST', 'watches', { kind, value, types, threshold }, signal))!
  }

  /** What a watch would have matched in the last 30 days. It creates nothing, and costs one call. */
  async previewWatch(watch: NewWatch, { signal }: CallOptions = {}): Promise<PreviewResponse> {
    return (await this.#transport.change<PreviewResponse>('POST', 'watches/preview', watch, signal))!
  }

  /** Mutes a watch, so that it matches nothing, or ends that. It costs nothing. */
  async muteWatch(id: number, muted: boolean, { signal }: CallOptions = {}): Promise<Watch> {
    return (await this.#transport.change<Watch>('PATCH', `watches/${id}`, { muted }, signal))!
  }

  /** Removes a watch. It costs nothing. */
  async removeWatch(id: number, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.change('DELETE', `watches/${id}`, null, signal)
  }

  /** A page of the events that the watches of the account matched, oldest first unless `before` is there. An empty page costs nothing. */
  events({ signal, ...options }: EventOptions = {}): Promise<EventsResponse> {
    return this.#transport.get(`events${searchOf(options)}`, signal)
  }

  /** The calls of today: limit, used and remaining ones. It costs nothing. */
  quota({ signal }: CallOptions = {}): Promise<QuotaResponse> {
    return this.#transport.get('account/quota', signal)
  }

  /** A page of the files that the account may fetch, sorted by date. It costs nothing. */
  files({ signal, next, limit }: PageOptions = {}): Promise<FilesResponse> {
    const query = new URLSearchParams()
    if (next != null) query.set('next', next)
    if (limit != null) query.set('limit', String(limit))
    return this.#transport.get(`files${query.toString().replace(/^(?=.)/, '?')}`, signal)
  }

  /** All files that the account may fetch, sorted by date. `limit`: files per page. */
  fileEntries({ next, ...options }: PageOptions = {}): Rows<FileEntry> {
    return new Rows(async (cursor) => {
      const page = await this.files({ ...options, next: cursor })
      return { rows: page.files, next: page.next }
    }, next ?? null)
  }

  /** Downloads the list of the domains registered on a day (`YYYY-MM-DD`), or its follow-up file. */
  async downloadDaily(
    date: string,
    { followup, ...options }: DownloadOptions & { followup?: 7 | 30 | undefined } = {},
  ): Promise<Download> {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) throw new TypeError(`The date "${date}" is not in the form YYYY-MM-DD.`)
    const filename = followup === undefined ? `${date}.txt.gz` : `${date}-followup-${followup}.csv.gz`
    return this.downloadFile(filename, options)
  }

  /** Downloads the newest snapshot. `enriched`: the edition with further columns. It makes a call of `snapshot` too. */
  async downloadSnapshot({ enriched, ...options }: DownloadOptions & { enriched?: boolean | undefined } = {}) {
    const { meta } = await this.snapshot({ enriched, signal: options.signal })
    return this.downloadFile(meta.filename, options)
  }

  /** Downloads a file that `files` lists. A file is charged as one call a day, however often it is requested. */
  downloadFile(filename: string, options: DownloadOptions = {}): Promise<Download> {
    return openDownload(this.#transport, filename, this.#newHash, options)
  }
}

/** The query string of the options that have a value; empty if none has. */
function searchOf(options: object): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(options)) if (value != null) search.set(key, String(value))
  return `?${search}`.replace(/\?$/, '')
}

/** The rows of all pages, from that of `next` on. */
function rowsOf<Row, Options extends PageOptions>(
  request: (options: Options) => Promise<{ meta: { next: string | null }; result: Row[] }>,
  options: Options,
): Rows<Row> {
  return new Rows(async (next) => {
    const { meta, result } = await request({ ...options, next })
    return { rows: result, next: meta.next }
  }, options.next ?? null)
}
