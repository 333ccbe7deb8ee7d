/** Reads untrusted JSON lines: every value is checked before use. */

import { nameProblem } from '../values/domain-name.ts'
import { isObject } from '../values/json-object.ts'

/** Returns the object in a line, or why the line has none. */
export function parseJsonObject(line: string): Record<string, unknown> | string {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : 'must be a JSON object'
  } catch (error) {
    return jsonProblem(error as SyntaxError)
  }
}

/** Returns the parser's message without the part of the line that it quotes. */
function jsonProblem({ message }: SyntaxError): string {
  return `must be JSON: ${message.replace(/, (\.\.\.)?".*| \(line.*/s, '').replace(/[^ -~]/g, '?')}`
}

/** Returns the objects of a list, or none if the value is not a list. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Returns a string as it is, and '' for any other value. */
export function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Says why a value is not a domain name, and what is expected. */
export function domainProblem(value: unknown): string {
  return typeof value === 'string' ? nameProblem(value) : 'must be a domain name'
}
