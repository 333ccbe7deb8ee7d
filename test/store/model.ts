/** A plain model of the store in memory: the contract, implemented as simply and slowly as possible. */

import { isDeepStrictEqual } from 'node:util'
import type { Interruption } from '../../src/apply/change.ts'
import type { IpStatus } from '../../src/apply/crawl-state.ts'
import type { DnsStatus, Observation, WebPart } from '../../src/observe/observation.ts'
import type { IngestOutcome } from '../../src/store/ingest.ts'
import type { CertificateSpan, RedirectSpan } from '../../src/store/port/inverse.ts'
import type { StateCutoffs } from '../../src/store/port/retention.ts'
import type {
  AddressProfile,
  DomainProfile,
  LastObserved,
  Lookup,
  NeighbourRow,
  PastCertificate,
  PastState,
  WebState,
} from '../../src/store/port/store.ts'
import { compareBytewise } from '../../src/values/bytewise-order.ts'
import type { Certificate } from '../../src/values/certificate/certificate.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { compareAddresses, type IpAddress } from '../../src/values/ip-address.ts'
import { type AnyRecord, RECORD_TYPES, type RecordType } from '../../src/values/records/dns-record.ts'
import { formatInstant, type Instant } from '../../src/values/time.ts'
import type { WebVerdict } from '../../src/values/web-verdict.ts'

const FIVE_MINUTES = 300

/** `last_confirmed`: null while it is the newest. */
type State = { first_seen: Instant; last_confirmed: Instant | null; records: readonly AnyRecord[] }

/** The facts about one name. States are oldest first. */
type Facts = {
  status: DnsStatus | null
  /** A or AAAA was queried, or the name was nxdomain or servfail. */
  resolved: boolean
  states: Record<RecordType, State[]>
  interruptions: Record<RecordType, Interruption[]>
  web: WebPart | null
  /** Oldest first. `last_seen` is the clock, while a state is the newest. */
  webStates: WebState[]
  certificates: PastCertificate[]
  /** When the name was first on each address that it still has had in a state, if that state was removed. */
  since: Record<IpAddress, Instant>
}
/** `absences`: when the name did not exist, since each type was last observed. */
type Domain = { clocks: Record<string, Instant>; facts: Facts; absences: Record<RecordType, Instant[]> }

function unseen(): Domain {
  const nothing = () => Object.fromEntries(RECORD_TYPES.map((type) => [type, []])) as unknown as Facts['states']
  const interruptions = nothing() as unknown as Facts['interruptions']
  const absences = nothing() as unknown as Domain['absences']
  return {
    clocks: {},
    facts: {
      status: null,
      resolved: false,
      states: nothing(),
      interruptions,
      web: null,
      webStates: [],
      certificates: [],
      since: {},
    },
    absences,
  }
}

export class Model {
  readonly #now: Instant
  readonly #domains = new Map<DomainName, Domain>()
  readonly #forgotten = new Set<DomainName>()

  /** `now`: the time of the store's clock. */
  constructor(now: Instant) {
    this.#now = now
  }

  /** A model that knows the same. */
  copy(): Model {
    const copy = new Model(this.#now)
    for (const [name, domain] of this.#domains) copy.#domains.set(name, domain) // each change replaces the object
    for (const name of this.#forgotten) copy.#forgotten.add(name)
    return copy
  }

  observe(observation: Observation): IngestOutcome {
    const { domain: name, observed_at } = observation
    if (observed_at > this.#now + FIVE_MINUTES) return 'ahead'
    if (this.#forgotten.has(name)) return 'stale'
    const known = this.#domains.get(name)
    const domain = structuredClone(known ?? unseen())
    const newer = observe(domain, observation)
    this.#domains.set(name, domain)
    if (known === undefined) return 'applied'
    if (!newer) return 'stale'
    const isSame = isDeepStrictEqual(known.facts, domain.facts)
    return isSame && isDeepStrictEqual(absentTypes(known), absentTypes(domain)) ? 'unchanged' : 'applied'
  }

  /** Removes the states that were replaced by the cutoff of their type. */
  prune(cutoffs: StateCutoffs): void {
    for (const [name, known] of this.#domains) {
      const { facts } = this.#domains.set(name, structuredClone(known)).get(name)!
      for (const type of RECORD_TYPES) {
        removeBefore(facts.states[type], cutoffs[type])
        const begin = facts.states[type][0]?.first_seen ?? 0
        const isCut = known.facts.states[type].length > facts.states[type].length
        if (isCut) facts.interruptions[type] = facts.interruptions[type].filter(({ seen_again }) => seen_again > begin)
      }
      removeBefore(facts.webStates, cutoffs.web)
      removeBefore(facts.certificates, cutoffs.certificate)
      const addresses = [...facts.states.A, ...facts.states.AAAA].flatMap(({ records }) => records.map(addressOf))
      facts.since = Object.fromEntries(addresses.map((each) => [each, firstOn(known.facts, each)]))
    }
  }

  forget(name: DomainName): boolean {
    this.#forgotten.add(name)
    return this.#domains.delete(name)
  }

  lookup(name: DomainName): Lookup | null {
    const domain = this.#domains.get(name)
    if (domain === undefined) return null
    const web = domain.facts.web
    const accounts = web?.social_accounts ?? []
    const networks = [...new Set(accounts.map(({ network }) => network))].sort(compareBytewise)
    return {
      ...this.clocks(name),
      ip: ip(domain.facts),
      only_dns_no_web:
        ip(domain.facts) === 'noip' && RECORD_TYPES.some((type) => newest(domain.facts, type).length > 0),
      has_website: web?.has_website ?? false,
      redirect_to_https: web?.redirect_to_https ?? false,
      redirect_to_www: web?.redirect_to_www ?? false,
      redirect_to_domain: (web?.redirects_to ?? null) !== null,
      only_with_www: web?.only_with_www ?? false,
      ssl: web?.ssl ?? 'nocert',
      social_networks: JSON.stringify(networks),
      social_accounts: JSON.stringify(accounts),
      redirect_count: this.redirects(name).length,
      reverse_ip_count: this.neighbours(this.addresses(name), name).length,
    }
  }

  domainProfile(name: DomainName, maxAddresses: number): DomainProfile | null {
    const lookup = this.lookup(name)
    if (lookup === null) return null
    const addresses = this.addresses(name)
    const states = RECORD_TYPES.flatMap((type) =>
      this.history(name, type)
        .slice(0, 1)
        .map(({ first_seen, records }) => [type, { first_seen, records }]),
    )
    return {
      lookup,
      redirects_to: this.#domains.get(name)?.facts.web?.redirects_to ?? null,
      records: Object.fromEntries(states),
      addresses: addresses.slice(0, maxAddresses).map((address) => ({
        address,
        since: this.#since(name, address),
        names: this.neighbours([address], null).length,
      })),
      addressCount: addresses.length,
    }
  }

  addressProfile(address: IpAddress, limit: number): AddressProfile {
    const rows = this.neighbours([address], null)
    return { count: rows.length, domains: rows.slice(0, limit).map(({ target, since }) => ({ target, since })) }
  }

  clocks(name: DomainName): LastObserved {
    const clocks = this.#domains.get(name)?.clocks ?? {}
    return { dns: clocks.status ?? null, web: clocks.web ?? null }
  }

  redirects(target: DomainName): DomainName[] {
    return this.#names().filter((name) => this.#domains.get(name)?.facts.web?.redirects_to === target)
  }

  addresses(name: DomainName): IpAddress[] {
    const domain = this.#domains.get(name)
    if (domain?.facts.status !== 'ok') return []
    const records = [...newest(domain.facts, 'A'), ...newest(domain.facts, 'AAAA')]
    return records.map(addressOf).sort(compareAddresses)
  }

  neighbours(addresses: readonly IpAddress[], except: DomainName | null): NeighbourRow[] {
    return addresses.flatMap((address) =>
      this.#names()
        .filter((name) => name !== except && this.addresses(name).includes(address))
        .map((name) => ({ target: name, ip: address, since: this.#since(name, address) })),
    )
  }

  /** Newest first. */
  history(name: DomainName, type: RecordType): PastState[] {
    const states = this.#domains.get(name)?.facts.states[type] ?? []
    return states.map((state) => ({ ...state, records: JSON.stringify(state.records) })).reverse()
  }

  /** The states of the website, newest first. */
  webHistory(name: DomainName): WebState[] {
    const { facts, clocks } = this.#domains.get(name) ?? unseen()
    const states = facts.webStates.map((state, index) => {
      const isNewest = index === facts.webStates.length - 1
      return isNewest ? { ...state, last_seen: Math.max(state.first_seen, clocks.web ?? 0) } : state
    })
    return states.reverse()
  }

  /** The certificates of a name, newest first. */
  certificateHistory(name: DomainName): PastCertificate[] {
    const { facts, clocks } = this.#domains.get(name) ?? unseen()
    return facts.certificates
      .map((each, index) =>
        index === facts.certificates.length - 1 ? { ...each, last_seen: clocks.certificate! } : each,
      )
      .reverse()
  }

  /** Every span of every certificate. */
  certificateSpans(): (CertificateSpan & { certificate: Certificate })[] {
    return this.#names().flatMap((name) =>
      this.certificateHistory(name).flatMap(({ certificate, first_seen: first, last_seen: last }) =>
        certificate ? [{ certificate, name, first, last }] : [],
      ),
    )
  }

  /** Every span of every redirect to another domain. The last one of a name is open: a certificate moves no clock. */
  redirectSpans(): RedirectSpan[] {
    return this.#names().flatMap((name) => {
      const spans: (Omit<RedirectSpan, 'host'> & { host: DomainName | null })[] = []
      for (const { first_seen, last_seen, verdict } of this.webHistory(name).reverse()) {
        const host = verdict.redirects_to && (verdict.redirect_host ?? verdict.redirects_to)
        const span = spans.at(-1)
        if (span?.host === host) span.last = last_seen
        else spans.push({ host, name, first: first_seen, last: last_seen })
      }
      const open = spans.at(-1)
      if (open) open.last = Math.max(open.first, this.#domains.get(name)!.clocks.web ?? 0)
      return spans.filter((span): span is RedirectSpan => span.host !== null)
    })
  }

  /** When a type was last observed; 0 for never. */
  clock(name: DomainName, type: RecordType): Instant {
    return this.#domains.get(name)?.clocks[type] ?? 0
  }

  /** When the name was first observed not to exist since the type was last observed. */
  absentSince(name: DomainName, type: RecordType): Instant | null {
    return this.#domains.get(name)?.absences[type][0] ?? null
  }

  /** Newest first. */
  interruptions(name: DomainName, type: RecordType): Interruption[] {
    return (this.#domains.get(name)?.facts.interruptions[type] ?? []).toReversed()
  }

  /** The names that were observed and not forgotten. */
  names(): DomainName[] {
    return this.#names()
  }

  /** Every span of every name, in no order. The data of a record is one value, or two for an SOA. */
  spans(): ModelSpan[] {
    return this.#names().flatMap((name) => RECORD_TYPES.flatMap((type) => this.#spansOf(name, type)))
  }

  /** Looks at one value after another, through all times in which the type was observed continuously. */
  #spansOf(name: DomainName, type: RecordType): ModelSpan[] {
    const { clocks, facts } = this.#domains.get(name)!
    const cuts = facts.interruptions[type]
    const spans: ModelSpan[] = []
    const values = new Set(facts.states[type].flatMap(({ records }) => records.flatMap((each) => valuesOf(type, each))))
    for (const value of values) {
      let span: ModelSpan | null = null
      for (const { first_seen, last_confirmed, records } of facts.states[type]) {
        const end = last_confirmed ?? clocks[type]!
        if (!records.some((each) => valuesOf(type, each).includes(value))) {
          span = null
          continue
        }
        if (span === null || cuts.some(({ seen_again }) => seen_again === first_seen)) {
          span = { value, name, first: first_seen, last: end }
          spans.push(span)
        }
        for (const { last_seen, seen_again } of cuts.filter(
          (cut) => first_seen < cut.seen_again && cut.seen_again <= end,
        )) {
          span.last = last_seen
          span = { value, name, first: seen_again, last: end }
          spans.push(span)
        }
        span.last = end
      }
    }
    return spans
  }

  #names(): DomainName[] {
    return [...this.#domains.keys()].sort(compareBytewise)
  }

  #since(name: DomainName, address: IpAddress): string {
    return formatInstant(firstOn(this.#domains.get(name)!.facts, address))
  }
}

/** When the name was first on an address. */
function firstOn({ states: { A, AAAA }, since }: Facts, address: IpAddress): Instant {
  const holding = [...A, ...AAAA].filter(({ records }) => records.some((record) => addressOf(record) === address))
  return Math.min(since[address] ?? Number.POSITIVE_INFINITY, ...holding.map(({ first_seen }) => first_seen))
}

/** Removes the states, oldest first, that another one followed by an instant. */
function removeBefore(states: { first_seen: Instant }[], cutoff = 0): void {
  states.splice(
    0,
    states.findLastIndex(({ first_seen }) => first_seen <= cutoff),
  )
}

/** A time in which a name showed a value: the type, and what `InverseSpan.data` says beside it. */
export type ModelSpan = { value: string; name: DomainName; first: Instant; last: Instant }

/** What a record says, as texts that begin with its type. */
function valuesOf(type: RecordType, record: AnyRecord): string[] {
  const { nameserver, target, mail_server, priority, parts, primary_nameserver, admin_email } = record as Record<
    string,
    unknown
  >
  if (type === 'SOA')
    return [`SOA primary_nameserver ${primary_nameserver}`, `SOA admin_email ${String(admin_email).replace('@', '.')}`]
  if (type === 'TXT') return [`TXT ${JSON.stringify(parts)}`]
  if (type === 'MX') return [`MX ${priority} ${mail_server}`]
  return [`${type} ${nameserver ?? target ?? addressOf(record)}`]
}

const UNSEEN_WEB: WebPart = {
  has_website: false,
  redirect_to_https: false,
  redirect_to_www: false,
  only_with_www: false,
  redirects_to: null,
  ssl: 'nocert',
  social_accounts: [],
  text: null,
}

/** The types of which it is known that the name did not exist since they were last observed. */
function absentTypes({ absences }: Domain): RecordType[] {
  return RECORD_TYPES.filter((type) => absences[type].length > 0)
}

/** Applies the parts that are newer than their clocks. Returns false if there is none. */
function observe(domain: Domain, { observed_at, dns, web, ssl, presented }: Observation): boolean {
  const { clocks, facts } = domain
  let newer = false
  const look = (part: string, change: () => void) => {
    if (observed_at <= (clocks[part] ?? 0)) return
    clocks[part] = observed_at
    newer = true
    change()
  }
  if (dns !== null) {
    look('status', () => {
      setStatus(facts, dns.status)
      if (dns.status !== 'nxdomain') return
      for (const type of RECORD_TYPES) if (newest(facts, type).length > 0) domain.absences[type].push(observed_at)
    })
  }
  for (const type of dns?.status === 'ok' ? RECORD_TYPES : []) {
    const records = dns?.records[type]
    if (records === undefined) continue
    const before = clocks[type] ?? 0
    look(type, () => {
      const wasAbsent = endAbsence(domain, type, observed_at, records.length === 0)
      const isInterrupted = wasAbsent || (dns?.interrupted?.includes(type) ?? false)
      if (isInterrupted && newest(facts, type).length > 0 && records.length > 0)
        facts.interruptions[type].push({ last_seen: before, seen_again: observed_at })
      setRecords(facts, type, { first_seen: observed_at, last_confirmed: null, records }, before)
    })
  }
  const certificate = presented === undefined ? web?.certificate : presented
  if (certificate !== undefined) {
    const before = clocks.certificate ?? 0
    look('certificate', () => {
      const newest = facts.certificates.at(-1)
      if (isDeepStrictEqual(newest?.certificate ?? null, certificate)) return
      if (newest) newest.last_seen = before
      facts.certificates.push({ first_seen: observed_at, last_seen: observed_at, certificate })
    })
  }
  if (web !== null) {
    const before = clocks.web ?? 0
    look('web', () => {
      setWeb(facts, web, observed_at, before)
    })
  } else if (ssl !== undefined && observed_at > (clocks.web ?? 0) && facts.web?.ssl !== ssl) {
    newer = true
    const certified = { ...(facts.web ?? UNSEEN_WEB), ssl }
    const newest = facts.webStates.at(-1)
    if (newest === undefined || observed_at > newest.first_seen) setWeb(facts, certified, observed_at, clocks.web ?? 0)
    else {
      facts.web = certified
      newest.verdict = verdictOf(certified)
    }
  }
  return newer
}

function setStatus(facts: Facts, status: DnsStatus): void {
  facts.status = status
  if (status !== 'ok') facts.resolved = true
}

/**
 * Returns whether the name was absent before `at` and after the last observation of the type. Keeps what is known of
 * absences after `at`, if the observation comes late: the last one, or all if none was before.
 */
function endAbsence({ absences, clocks, facts }: Domain, type: RecordType, at: Instant, isEmpty: boolean): boolean {
  const wasAbsent = absences[type].some((time) => time <= at)
  const status = facts.status === 'nxdomain' ? clocks.status! : 0
  const last = Math.max(status, ...absences[type])
  const isKept = !wasAbsent && absences[type].length > 0
  if (isEmpty || last <= at) absences[type] = []
  else if (!isKept) absences[type] = [last]
  return wasAbsent
}

/** `before`: when the type was last observed before. */
function setRecords(facts: Facts, type: RecordType, state: State, before: Instant): void {
  if (type === 'A' || type === 'AAAA') facts.resolved = true
  if (sameSet(newest(facts, type), state.records)) return
  const former = facts.states[type].at(-1)
  if (former) former.last_confirmed = before
  facts.states[type].push(state)
}

/** `before`: when the web was last observed before. A state begins after the one before it. */
function setWeb(facts: Facts, observed: WebPart, at: Instant, before: Instant): void {
  const { certificate: _, ...web } = observed
  facts.web = web
  const newest = facts.webStates.at(-1)
  const verdict = verdictOf(web)
  if (newest && isDeepStrictEqual(newest.verdict, verdict)) return
  if (newest) newest.last_seen = Math.max(newest.first_seen, before)
  const first_seen = newest ? Math.max(at, newest.first_seen + 1) : at
  facts.webStates.push({ first_seen, last_seen: first_seen, verdict })
}

function verdictOf({ social_accounts: _, text: __, certificate: ___, ...verdict }: WebPart): WebVerdict {
  return verdict
}

/** Returns the records of the newest state, or none without a state. */
function newest(facts: Facts, type: RecordType): readonly AnyRecord[] {
  return facts.states[type].at(-1)?.records ?? []
}

function sameSet(one: readonly AnyRecord[], other: readonly AnyRecord[]): boolean {
  const texts = (records: readonly AnyRecord[]) => records.map((record) => JSON.stringify(record)).sort()
  return isDeepStrictEqual(texts(one), texts(other))
}

function ip(facts: Facts): IpStatus | null {
  if (!facts.resolved) return null
  if (facts.status === 'nxdomain' || facts.status === 'servfail') return facts.status
  const [four, six] = [newest(facts, 'A').length > 0, newest(facts, 'AAAA').length > 0]
  if (four && six) return 'both'
  if (four) return 'v4only'
  return six ? 'v6only' : 'noip'
}

function addressOf(record: AnyRecord): IpAddress {
  const { ipv4_address, ipv6_address } = record as { ipv4_address?: IpAddress; ipv6_address?: IpAddress }
  return (ipv4_address ?? ipv6_address)!
}
