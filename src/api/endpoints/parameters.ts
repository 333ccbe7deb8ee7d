/** The parameters of a request, and how a value of any JSON type is read as what was meant. */

import { refang } from '../../values/defanged.ts'
import { type DomainName, looksLikeAddress, nameProblem, parseName } from '../../values/domain-name.ts'
import { ApiError, type ErrorKey } from '../errors.ts'

/** As they were sent. Ones that nobody asks for are ignored. */
export type Parameters = Readonly<Record<string, unknown>>

/**
 * The text of a parameter without the white space around it, a number as its digits; null where it was not sent, and for
 * null and "". An array, an object or a boolean is refused with `wrong`.
 */
export function readTextParameter(parameters: Parameters, name: string, errorKey: ErrorKey): string | null {
  const value = parameters[name]
  if (typeof value === 'string') return value.trim() || null
  if (typeof value === 'number') return String(value)
  if (value === undefined || value === null) return null
  throw new ApiError(errorKey, { msg: `The parameter "${name}" must be a string.` })
}

/** The text of `query`. Throws `query_missing` where there is none, `domain_format` for what is no text. */
export function readQueryParameter(parameters: Parameters): string {
  const text = readTextParameter(parameters, 'query', 'domain_format')
  if (text === null) throw new ApiError('query_missing')
  return text
}

/** The canonical name that `query` spells. Throws `query_missing` and `domain_format`. */
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

/** The limit to apply: at most `ceiling`, and `standard` where `limit` is no positive whole number. */
export function readLimitParameter(parameters: Parameters, fallback: number, max: number): number {
  const value = parameters.limit
  const limit = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value
  const isCount = typeof limit === 'number' && limit >= 1 && (Number.isInteger(limit) || limit === Infinity)
  return Math.min(isCount ? limit : fallback, max)
}

/** Whether a switch is on: "1" or 1. */
export function isSwitchedOn(parameters: Parameters, name: string): boolean {
  const value = parameters[name]
  return value === 1 || (typeof value === 'string' && value.trim() === '1')
}
