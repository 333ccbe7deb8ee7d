/** Parses observations: a line of JSON becomes a canonical Observation, or the reason why it is rejected. */

import { type DomainName, parseName } from '../values/domain-name.ts'
import { isObject } from '../values/json-object.ts'
import { canonicalRecordSet, RECORD_TYPES, type RecordsByType, type RecordType } from '../values/records/dns-record.ts'
import { parseInstant } from '../values/time.ts'
import type { Ssl } from '../values/web-verdict.ts'
import { parseCertificate } from './certificate-json.ts'
import { domainProblem, parseJsonObject } from './json.ts'
import {
  type DnsPart,
  type DnsStatus,
  MAX_SOCIAL_ACCOUNTS,
  MAX_WEB_TEXT_BYTES,
  type Observation,
  type SocialAccount,
  type WebPart,
} from './observation.ts'
import { NO_REDIRECT_TARGET, type RedirectTarget, redirectTargetFor } from './redirect-target.ts'

const STATUSES: readonly DnsStatus[] = ['ok', 'nxdomain', 'servfail']
const VERDICTS: readonly Ssl[] = ['valid', 'nocert', 'invalid']
const BOOLEAN_KEYS = ['has_website', 'redirect_to_https', 'redirect_to_www', 'only_with_www'] as const
const ACCOUNT_KEYS = ['network', 'type', 'username', 'url'] as const

/**
 * Returns the observation in one line of a file, canonical in every part, or why it is rejected. The reason names the
 * field: `dns.MX[1].priority: must be a whole number from 0 to 65535`. Unknown keys are ignored. A null part counts as
 * absent. Never throws.
 */
export function parseObservation(line: string): Observation | string {
  const value = parseJsonObject(line)
  if (typeof value === 'string') return value
  const domain = typeof value.domain === 'string' ? parseName(value.domain) : null
  if (domain === null) return `domain: ${domainProblem(value.domain)}`
  const observed_at = typeof value.observed_at === 'string' ? parseInstant(value.observed_at) : null
  if (observed_at === null) return 'observed_at: must be an RFC 3339 time such as 2026-11-20T03:04:05Z'
  const dns = isAbsent(value.dns) ? null : parseDnsPart(value.dns)
  if (typeof dns === 'string') return `dns${dns}`
  if (isCertificateAlone(value.web)) {
    const presented = parseCertificatePart(value.web.certificate)
    if (typeof presented === 'string') return `web.certificate${presented}`
    return { domain, observed_at, dns, web: null, presented: presented! }
  }
  const web = isAbsent(value.web) ? null : parseWebPart(value.web, domain)
  if (typeof web === 'string') return `web${web}`
  return { domain, observed_at, dns, web }
}

/** Ignores the record lists if the status is not ok. A returned reason continues after `dns`. */
function parseDnsPart(value: unknown): DnsPart | string {
  if (!isObject(value)) return ': must be an object'
  const status = STATUSES.find((each) => each === value.status)
  if (status === undefined) return `.status: must be one of ${STATUSES.join(', ')}`
  const records: Partial<Record<RecordType, unknown>> = {}
  for (const type of status === 'ok' ? RECORD_TYPES : []) {
    if (value[type] === undefined) continue
    const set = canonicalRecordSet(type, value[type])
    if (typeof set === 'string') return `.${set}`
    records[type] = set
  }
  const interrupted = parseInterruptedTypes(value.interrupted, records)
  if (typeof interrupted === 'string') return `.interrupted${interrupted}`
  return { status, records: records as Partial<RecordsByType>, ...(interrupted.length > 0 && { interrupted }) }
}

/** Ignores types that were not queried. A returned reason continues after `dns.interrupted`. */
function parseInterruptedTypes(value: unknown, queried: Partial<Record<RecordType, unknown>>): RecordType[] | string {
  if (isAbsent(value)) return []
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    return ': must be a list of record types'
  return RECORD_TYPES.filter((type) => value.includes(type) && queried[type] !== undefined)
}

/** A returned reason continues after `web`. */
function parseWebPart(value: unknown, domain: DomainName): WebPart | string {
  if (!isObject(value)) return ': must be an object'
  for (const key of BOOLEAN_KEYS) if (typeof value[key] !== 'boolean') return `.${key}: must be true or false`
  const target = parseRedirectTarget(value.redirects_to, domain)
  if (target === undefined) return `.redirects_to: ${domainProblem(value.redirects_to)}, or null`
  const ssl = VERDICTS.find((each) => each === value.ssl)
  if (ssl === undefined) return `.ssl: must be one of ${VERDICTS.join(', ')}`
  const social_accounts = parseAccounts(value.social_accounts)
  if (typeof social_accounts === 'string') return `.social_accounts${social_accounts}`
  const text = isAbsent(value.text) ? '' : value.text
  if (typeof text !== 'string') return '.text: must be a text'
  if (Buffer.byteLength(text) > MAX_WEB_TEXT_BYTES) return `.text: must have at most ${MAX_WEB_TEXT_BYTES} bytes`
  const certificate = parseCertificatePart(value.certificate)
  if (typeof certificate === 'string') return `.certificate${certificate}`
  const has_website = value.has_website === true && target.redirects_to === null
  return {
    has_website,
    redirect_to_https: value.redirect_to_https === true,
    redirect_to_www: value.redirect_to_www === true,
    only_with_www: value.only_with_www === true,
    ...target,
    ssl,
    social_accounts: has_website ? social_accounts : [],
    text: has_website && text !== '' ? text.toWellFormed() : null,
    ...(certificate !== undefined && { certificate }),
  }
}

/** Whether a web part says nothing of the website. */
function isCertificateAlone(value: unknown): value is { certificate: unknown } {
  if (!isObject(value) || value.certificate === undefined) return false
  return [...BOOLEAN_KEYS, 'redirects_to', 'ssl', 'social_accounts', 'text'].every((key) => value[key] === undefined)
}

function parseCertificatePart(value: unknown): WebPart['certificate'] | string {
  return value === undefined || value === null ? value : parseCertificate(value)
}

/** Returns the final host of the redirects and its registrable domain, or undefined if the value is not a name. */
function parseRedirectTarget(value: unknown, domain: DomainName): RedirectTarget | undefined {
  if (value === null) return NO_REDIRECT_TARGET
  const host = typeof value === 'string' ? parseName(value) : null
  return host === null ? undefined : redirectTargetFor(host, domain)
}

/** Returns the accounts in the given order, each URL once. A returned reason continues after `social_accounts`. */
function parseAccounts(value: unknown): SocialAccount[] | string {
  if (!Array.isArray(value)) return ': must be a list'
  if (value.length > MAX_SOCIAL_ACCOUNTS) return `: must hold at most ${MAX_SOCIAL_ACCOUNTS} accounts`
  const accounts = new Map<string, SocialAccount>()
  for (const [index, each] of value.entries()) {
    if (!isObject(each)) return `[${index}]: must be an object`
    const invalidKey = ACCOUNT_KEYS.find((key) => typeof each[key] !== 'string')
    if (invalidKey !== undefined) return `[${index}].${invalidKey}: must be a text`
    const account = wellFormedAccount(each as SocialAccount)
    if (!accounts.has(account.url)) accounts.set(account.url, account)
  }
  return [...accounts.values()]
}

function wellFormedAccount({ network, type, username, url }: SocialAccount): SocialAccount {
  return {
    network: network.toWellFormed(),
    type: type.toWellFormed(),
    username: username.toWellFormed(),
    url: url.toWellFormed(),
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}
