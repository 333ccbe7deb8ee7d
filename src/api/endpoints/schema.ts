/** The parts of JSON Schema that several endpoints share. */

import { DEFAULT_PLAN_LIMITS, type PlanLimits } from '../../accounts/plan.ts'
import { type JsonSchema, type ObjectSchema, Type } from './json-schema.ts'

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
export const NextCursorSchema = Type.Union([Type.String(), Type.Null()], {
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

/** The values of a limit in the plans that include it, such as `Basic 10, Premium 100`. Leaves out the local plan. */
export function planLimitsText(limit: keyof PlanLimits): string {
  const { local, ...plans } = DEFAULT_PLAN_LIMITS
  return Object.entries(plans)
    .flatMap(([plan, { [limit]: value }]) =>
      value === null ? [] : `${plan[0]!.toUpperCase()}${plan.slice(1)} ${value.toLocaleString('en-US')}`,
    )
    .join(', ')
}
