/** Reads the parameters of a request from values of any JSON type. */

import { type DomainName, looksLikeAddress, nameProblem, parseName } from '../../values/domain-name.ts'
import { refang } from '../../values/pasted/defanged.ts'
import { ApiError, type ErrorKey } from './errors.ts'

/** The parameters as sent. Unknown ones are ignored. */
export type Parameters = Readonly<Record<string, unknown>>

/** The largest ID that an engine stores. */
const MAX_ID = 2 ** 31 - 1

/** An ID in a path, or a number. Throws `not_found` for what cannot be one. */
export function readId(value: unknown): number {
  const id = /^[1-9]\d{0,9}$/.test(String(value)) ? Number(value) : 0
  if (id < 1 || id > MAX_ID) throw new ApiError('not_found')
  return id
}

/**
 * The text of a parameter without surrounding white space. A number is read as its digits. Returns null if the
 * parameter is missing, null or "". Throws `errorKey` for an array, an object or a boolean.
 */
export function readTextParameter(parameters: Parameters, name: string, errorKey: ErrorKey): string | null {
  const value = parameters[name]
  if (typeof value === 'string') return value.trim() || null
  if (typeof value === 'number') return String(value)
  if (value === undefined || value === null) return null
  throw new ApiError(errorKey, { msg: `The parameter "${name}" must be a string.` })
}

/** The text of `query`. Throws `query_missing` if there is none, and `domain_format` if it is not a text. */
export function readQueryParameter(parameters: Parameters): string {
  const text = readTextParameter(parameters, 'query', 'domain_format')
  if (text === null) throw new ApiError('query_missing')
  return text
}

/** The canonical domain name in `query`. Throws `query_missing` and `domain_format`. */
export function readNameParameter(parameters: Parameters): DomainName {
  const text = readQueryParameter(parameters)
  return parseName(text) ?? rejectName(text)
}

export function rejectName(text: string): never {
  const hint = looksLikeAddress(refang(text))
    ? ' Only /reverseip takes an address, without brackets, port, zone or prefix length.'
    : ''
  throw new ApiError('domain_format', { msg: `The query is not a domain name: ${nameProblem(text)}.${hint}` })
}

/** The limit to apply: at most `max`. It is `fallback` if the parameter `limit` is not a positive whole number. */
export function readLimitParameter(parameters: Parameters, fallback: number, max: number): number {
  const value = parameters.limit
  const limit = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value
  const isCount = typeof limit === 'number' && limit >= 1 && (Number.isInteger(limit) || limit === Infinity)
  return Math.min(isCount ? limit : fallback, max)
}

/** Whether a parameter is "1" or 1. */
export function isSwitchedOn(parameters: Parameters, name: string): boolean {
  const value = parameters[name]
  return value === 1 || (typeof value === 'string' && value.trim() === '1')
}
