/** The calls that the view of an address makes as soon as it is shown. */

import { areaOf, networkOf, partsOf } from './address.ts'
import { addressTimesPath, certificatePath, DOMAIN_CALLS, domainAsOfPath, ipPath, usageOfTodayPath } from './paths.ts'

/** By the address of the view. */
const ACCOUNT_CALLS: Readonly<Record<string, string>> = {
  '/account': '/app/sessions',
  '/account/tokens': '/app/tokens',
  '/account/usage': '/app/usage',
  '/account/files': '/app/plan',
  '/watches': '/watches',
}

/** Only calls that the view certainly makes: those of data are charged. */
export function firstCalls(path: string, query: URLSearchParams, isSignedIn: boolean): string[] {
  const kept = keptCalls(path, query, isSignedIn)
  if (!isSignedIn) return kept
  const own = Object.hasOwn(ACCOUNT_CALLS, path) ? [ACCOUNT_CALLS[path]!] : []
  return [usageOfTodayPath(), ...kept, ...own]
}

/** Those whose responses stay in memory. */
export function keptCalls(path: string, query: URLSearchParams, isSignedIn: boolean): string[] {
  if (areaOf(path) === 'reference') return ['/openapi.json']
  return isSignedIn ? dataCalls(path, query) : []
}

function dataCalls(path: string, query: URLSearchParams): string[] {
  const parts = partsOf(path)
  const { section, subject, view } = parts
  const day = query.get('at')
  if (subject === '') return []
  if (section === 'ip') return addressCalls(networkOf(parts), day)
  if (section === 'certificate' && /^[0-9a-f]{64}$/.test(subject) && view === '') return [certificatePath(subject)]
  if (section !== 'domain' || query.has('text')) return []
  if (view === '' && day !== null) return [domainAsOfPath(subject, day)]
  return Object.hasOwn(DOMAIN_CALLS, view) ? [DOMAIN_CALLS[view]!(subject)] : []
}

/** `addresses`: an address or a network. */
function addressCalls(addresses: string, day: string | null): string[] {
  const isPresent = day === null && !addresses.includes('/')
  return [isPresent ? ipPath(addresses) : addressTimesPath(addresses, day, null)]
}
