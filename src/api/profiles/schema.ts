/** The parts of JSON Schema that the profiles share. */

import { type JsonSchema, Type } from '../endpoints/json-schema.ts'

export const UtcInstantSchema = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$',
  description: 'An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`.',
})

export const CostSchema = Type.Literal(1, { description: 'The units that this response cost.' })

export function nullable(schema: JsonSchema, description: string): JsonSchema {
  return Type.Union([schema, Type.Null()], { description })
}
