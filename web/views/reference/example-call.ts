/** The example call of an endpoint, from the examples of its parameters. */

import type { ApiCall } from '../explorer/data/snippets.ts'
import type { Parameter, ReferenceEntry } from './openapi.ts'

/** Null if a program would not make this call with a token. */
export function exampleCall({ path, parameters, operation, methods }: ReferenceEntry): ApiCall | null {
  if (path.startsWith('/v1.0/')) {
    const sent = parameters.filter(({ required, name }) => required && name !== 'token')
    return { path, parameters: Object.fromEntries(sent.map((each) => [each.name, exampleOf(each)])) }
  }
  const usesBearer = operation.security?.some((each) => 'bearer' in each) ?? false
  if (!usesBearer || methods[0] !== 'get') return null
  const filled = path.replace(/\{(\w+)\}/g, (whole, name) => {
    const parameter = parameters.find((each) => each.name === name)
    return parameter === undefined ? whole : exampleOf(parameter)
  })
  return { path: filled, parameters: null }
}

/** An example value of a parameter as text. */
export function exampleOf({ schema, name }: Parameter): string {
  return String(schema.examples?.[0] ?? schema.enum?.[0] ?? schema.default ?? name.toUpperCase())
}
