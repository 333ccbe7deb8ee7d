/** The parameters of the OpenAPI document. */

import type { JsonSchema } from '../endpoints/json-schema.ts'

/** A parameter of the query string. */
export function queryParameter(
  name: string,
  parameterSchema: JsonSchema,
  required: readonly string[] = [],
): Record<string, unknown> {
  const { description, ...schema } = parameterSchema as JsonSchema & { description?: string }
  return { name, in: 'query', required: required.includes(name), description, schema }
}
