/** JSON Schema (draft 2020-12): its builders, and the parts that several endpoints share. */

import { DEFAULT_PLAN_LIMITS, type PlanLimits } from '../../accounts/plan.ts'

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

/** The schema of an object with exactly these keys. */
export function exactObject(properties: ObjectSchema['properties']): ObjectSchema {
  return Type.Object(properties, { additionalProperties: false })
}

export function enumString(values: readonly string[], description: string): JsonSchema {
  return Type.String({ enum: [...values], description })
}

export function yesNoSchema(description: string): JsonSchema {
  return enumString(['yes', 'no'], description)
}

export const RcodeSchema = Type.Literal(200, { description: 'The status code.' })
export const OkMessageSchema = Type.Literal('ok', { description: 'The message.' })
export const DomainSchema = Type.String({ description: 'A domain name: lower-case A-labels without a trailing dot.' })
export const AddressSchema = Type.String({
  description: 'An IPv4 or IPv6 address in its shortest form.',
  anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }],
})
export const InstantSchema = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}$',
  description: 'An instant, UTC: `YYYY-MM-DDThh:mm:ss`.',
})
export const AppliedLimitSchema = Type.Integer({ minimum: 1, description: 'The limit that was applied.' })
export const MaxLimitSchema = Type.Integer({ minimum: 1, description: 'The highest limit of the plan.' })
const NextCursorSchema = Type.Union([Type.String(), Type.Null()], {
  description: 'The cursor of the next page; null on the last page.',
})

/** The parameter `query` of the endpoints that take a domain. */
export const DomainQuerySchema = Type.String({
  description: 'A domain without scheme and trailing slash; letter case is ignored.',
  examples: ['example.com'],
})

export function limitParameter(fallback: number, limitsText: string): JsonSchema {
  return Type.Integer({
    minimum: 1,
    default: fallback,
    description: `The maximum number of results. ${limitsText} A higher value is reduced.`,
  })
}

/** The default number of rows of a page of `/redirect` and `/reverseip`. */
export const DEFAULT_PAGE_ROWS = 1_000

/** The parameters of an endpoint with pages of rows. */
export const PageParameterSchemas = {
  limit: Type.Optional(limitParameter(DEFAULT_PAGE_ROWS, `${planLimitsText('pageRows')}.`)),
  next: Type.Optional(Type.String({ description: 'The `meta.next` of the previous page.' })),
}

/** The keys of `meta` in a page of rows, after those about the query. */
export const PageMetaSchemas = {
  limit: AppliedLimitSchema,
  max_limit: MaxLimitSchema,
  rcode: RcodeSchema,
  msg: OkMessageSchema,
  next: NextCursorSchema,
}

/** The values of a limit in the plans that include it, such as `Basic 10, Premium 100`. Leaves out the local plan. */
export function planLimitsText(limit: keyof PlanLimits): string {
  const { local, ...plans } = DEFAULT_PLAN_LIMITS
  return Object.entries(plans)
    .flatMap(([plan, { [limit]: value }]) =>
      value === null ? [] : `${plan[0]!.toUpperCase()}${plan.slice(1)} ${value.toLocaleString('en-US')}`,
    )
    .join(', ')
}

/** The day of a registration, as a zone or a list reports it. */
export const RegisteredSchema = nullable(
  Type.String({ format: 'date' }),
  'The newest day on which a zone or a list reported that it was registered; null: none did.',
)

export const UtcInstantSchema = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$',
  description: 'An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`.',
})

export const CostSchema = Type.Literal(1, { description: 'The units that this response cost.' })

export function nullable(schema: JsonSchema, description: string): JsonSchema {
  return Type.Union([schema, Type.Null()], { description })
}
