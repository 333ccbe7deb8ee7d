/** The door for observations in text: a line of JSON becomes a canonical Observation, or the reason why it does not. */

import { canonicalRecordSet, RECORD_TYPES, type RecordsByType, type RecordType } from '../values/dns-record.ts'
import { type DomainName, parseName } from '../values/domain-name.ts'
import { parseInstant } from '../values/time.ts'
import { domainProblem, isObject, parseJsonObject } from './json.ts'
import type { DnsPart, DnsStatus, Observation, SocialAccount, Ssl, WebPart } from './observation.ts'
import { NO_REDIRECT_TARGET, type RedirectTarget, redirectTargetFor } from './redirect-target.ts'

const STATUSES: readonly DnsStatus[] = ['ok', 'nxdomain', 'servfail']
const VERDICTS: readonly Ssl[] = ['valid', 'nocert', 'invalid']
const BOOLEAN_KEYS = ['has_website', 'redirect_to_https', 'redirect_to_www', 'only_with_www'] as const
const ACCOUNT_KEYS = ['network', 'type', 'username', 'url'] as const
const MAX_ACCOUNTS = 100
const MAX_TEXT_BYTES = 65_536

/**
 * The observation in one line of a file, canonical in every part, or the reason of refusal naming the field, as in
 * `dns.MX[1].priority: must be a whole number from 0 to 65535`. Unknown keys are ignored; a part that is null counts as
 * left out. Never throws.
 */
export function parseObservation(line: string): Observation | string {
  const given = parseJsonObject(line)
  if (typeof given === 'string') return given
  const domain = typeof given.domain === 'string' ? parseName(given.domain) : null
  if (domain === null) return `domain: ${domainProblem(given.domain)}`
  const observed_at = typeof given.observed_at === 'string' ? parseInstant(given.observed_at) : null
  if (observed_at === null) return 'observed_at: must be an RFC 3339 time such as 2026-11-20T03:04:05Z'
  const dns = isAbsent(given.dns) ? null : parseDnsPart(given.dns)
  if (typeof dns === 'string') return `dns${dns}`
  const web = isAbsent(given.web) ? null : parseWebPart(given.web, domain)
  if (typeof web === 'string') return `web${web}`
  return { domain, observed_at, dns, web }
}

/** With a status other than ok the record lists are not read. A reason begins behind `dns`. */
function parseDnsPart(given: unknown): DnsPart | string {
  if (!isObject(given)) return ': must be an object'
  const status = STATUSES.find((each) => each === given.status)
  if (status === undefined) return `.status: must be one of ${STATUSES.join(', ')}`
  const records: Partial<Record<RecordType, unknown>> = {}
  for (const type of status === 'ok' ? RECORD_TYPES : []) {
    if (given[type] === undefined) continue
    const set = canonicalRecordSet(type, given[type])
    if (typeof set === 'string') return `.${set}`
    records[type] = set
  }
  return { status, records: records as Partial<RecordsByType> }
}

/** A reason begins behind `web`. */
function parseWebPart(given: unknown, domain: DomainName): WebPart | string {
  if (!isObject(given)) return ': must be an object'
  for (const key of BOOLEAN_KEYS) if (typeof given[key] !== 'boolean') return `.${key}: must be true or false`
  const target = parseRedirectTarget(given.redirects_to, domain)
  if (target === undefined) return `.redirects_to: ${domainProblem(given.redirects_to)}, or null`
  const ssl = VERDICTS.find((each) => each === given.ssl)
  if (ssl === undefined) return `.ssl: must be one of ${VERDICTS.join(', ')}`
  const social_accounts = parseAccounts(given.social_accounts)
  if (typeof social_accounts === 'string') return `.social_accounts${social_accounts}`
  const text = isAbsent(given.text) ? '' : given.text
  if (typeof text !== 'string') return '.text: must be a text'
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) return `.text: must have at most ${MAX_TEXT_BYTES} bytes`
  const has_website = given.has_website === true && target.redirects_to === null
  return {
    has_website,
    redirect_to_https: given.redirect_to_https === true,
    redirect_to_www: given.redirect_to_www === true,
    only_with_www: given.only_with_www === true,
    ...target,
    ssl,
    social_accounts: has_website ? social_accounts : [],
    text: has_website && text !== '' ? text.toWellFormed() : null,
  }
}

/** The registrable domain of where it redirects to, and the host where it ends; undefined for what is no name. */
function parseRedirectTarget(given: unknown, domain: DomainName): RedirectTarget | undefined {
  if (given === null) return NO_REDIRECT_TARGET
  const host = typeof given === 'string' ? parseName(given) : null
  return host === null ? undefined : redirectTargetFor(host, domain)
}

/** The accounts in the order given, each url once. A reason begins behind `social_accounts`. */
function parseAccounts(given: unknown): SocialAccount[] | string {
  if (!Array.isArray(given)) return ': must be a list'
  if (given.length > MAX_ACCOUNTS) return `: must hold at most ${MAX_ACCOUNTS} accounts`
  const accounts = new Map<string, SocialAccount>()
  for (const [index, each] of given.entries()) {
    if (!isObject(each)) return `[${index}]: must be an object`
    const wrong = ACCOUNT_KEYS.find((key) => typeof each[key] !== 'string')
    if (wrong !== undefined) return `[${index}].${wrong}: must be a text`
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

function isAbsent(given: unknown): boolean {
  return given === undefined || given === null
}
