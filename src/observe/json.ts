/** Reads lines of JSON that others wrote: every value is looked at before it is believed. */

import { nameProblem } from '../values/domain-name.ts'

/** The object in a line, or why it is none. */
export function parseJsonObject(line: string): Record<string, unknown> | string {
  try {
    const given: unknown = JSON.parse(line)
    return isObject(given) ? given : 'must be a JSON object'
  } catch (error) {
    return jsonProblem(error as SyntaxError)
  }
}

/** The parser's own words without the piece of the line that it quotes. */
function jsonProblem({ message }: SyntaxError): string {
  return `must be JSON: ${message.replace(/, (\.\.\.)?".*| \(line.*/s, '').replace(/[^ -~]/g, '?')}`
}

export function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

/** The objects of a list; none where it is no list. */
export function objectsIn(given: unknown): Record<string, unknown>[] {
  return Array.isArray(given) ? given.filter(isObject) : []
}

/** A text as it is, anything else as ''. */
export function stringOrEmpty(given: unknown): string {
  return typeof given === 'string' ? given : ''
}

/** Why a value is no domain name, and what to write instead. */
export function domainProblem(given: unknown): string {
  return typeof given === 'string' ? nameProblem(given) : 'must be a domain name'
}
