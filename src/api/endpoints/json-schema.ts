/** Builders of the JSON Schemas (draft 2020-12) in the declarations of the endpoints. */

/** A schema: its keywords. `OPTIONAL` marks the schema of a property that an object may lack. */
export type JsonSchema = Readonly<Record<string, unknown>> & { readonly [OPTIONAL]?: true }
export type ObjectSchema = JsonSchema & {
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

type Keywords = Readonly<Record<string, unknown>>

/** A symbol, so that JSON does not contain it. */
const OPTIONAL = Symbol('optional')

export const Type = {
  String: (keywords?: Keywords): JsonSchema => ({ type: 'string', ...keywords }),
  Integer: (keywords?: Keywords): JsonSchema => ({ type: 'integer', ...keywords }),
  Number: (keywords?: Keywords): JsonSchema => ({ type: 'number', ...keywords }),
  Boolean: (keywords?: Keywords): JsonSchema => ({ type: 'boolean', ...keywords }),
  Null: (keywords?: Keywords): JsonSchema => ({ type: 'null', ...keywords }),
  /** No value is valid. */
  Never: (): JsonSchema => ({ not: {} }),
  Literal: (value: string | number, keywords?: Keywords): JsonSchema => ({
    type: typeof value,
    const: value,
    ...keywords,
  }),
  Array: (items: JsonSchema, keywords?: Keywords): JsonSchema => ({ type: 'array', items, ...keywords }),
  Union: (schemas: readonly JsonSchema[], keywords?: Keywords): JsonSchema => ({ anyOf: schemas, ...keywords }),
  Optional: (schema: JsonSchema): JsonSchema => ({ ...schema, [OPTIONAL]: true }),
  /** Requires every property that is not optional. */
  Object(properties: Readonly<Record<string, JsonSchema>>, keywords?: Keywords): ObjectSchema {
    const required = Object.keys(properties).filter((key) => !properties[key]![OPTIONAL])
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...keywords }
  },
}
