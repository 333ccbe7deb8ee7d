/** The watches of an account in requests and responses: their schemas, and how they are read and written. */

import type { OwnWatch } from '../../../store/port/watch/watches.ts'
import { utcText } from '../../../values/time.ts'
import {
  DIFFERENCE_TYPES,
  type DifferenceType,
  KIND_PROPERTIES,
  THRESHOLD_KINDS,
  THRESHOLDS_TEXT,
  thresholdOfKind,
  typesOfKind,
  WATCH_KINDS,
  type WatchKind,
  WEIGHTS_TEXT,
  watchWeight,
} from '../../../values/watch-kind.ts'
import { parseWatchValue, type WatchRule } from '../../../watch/watch.ts'
import { ApiError } from '../../http/errors.ts'
import type { Parameters } from '../../http/parameters.ts'
import { exactObject, nullable, Type, UtcInstantSchema } from '../schema.ts'

export const KindSchema = Type.String({ enum: [...WATCH_KINDS], description: 'What the changes have in common.' })
const TypesSchema = Type.Array(Type.String({ enum: [...DIFFERENCE_TYPES] }), {
  description: 'The types of differences that match.',
})
const ThresholdSchema = Type.Integer({
  minimum: 1,
  maximum: 100,
  description: `The number that a change must reach to match, ${THRESHOLDS_TEXT}. Other kinds have none.`,
})

export const WatchSchema = exactObject({
  id: Type.Integer(),
  kind: KindSchema,
  value: Type.String({ description: 'In canonical form.' }),
  threshold: nullable(ThresholdSchema, 'Null for the other kinds.'),
  types: nullable(TypesSchema, 'Null: all.'),
  created: UtcInstantSchema,
  muted: nullable(UtcInstantSchema, 'Since when it matches nothing; null: it matches.'),
})
export const WatchListSchema = exactObject({
  watches: Type.Array(WatchSchema),
  used: Type.Integer({ description: `The number of watches. ${WEIGHTS_TEXT}` }),
  max: Type.Integer({ description: 'The maximum number of watches of the plan.' }),
})
export const NewWatchSchema = Type.Object({
  kind: KindSchema,
  value: Type.String({
    description: 'A name, an address, a network or a pattern, as the kind says.',
    examples: ['example.com', '192.0.2.0/24', '*paypal*'],
  }),
  types: Type.Optional(TypesSchema),
  threshold: Type.Optional(ThresholdSchema),
})
export const MutedSchema = Type.Object({ muted: Type.Boolean() })

/** A watch as it is sent. */
export function watchBody({ id, kind, value, threshold, types, created, muted }: OwnWatch): object {
  return { id, kind, value, threshold, types, created: utcText(created), muted: utcText(muted) }
}

/** The watches of an account as they are sent. `max`: of its plan. */
export function watchListBody(watches: readonly OwnWatch[], max: number): object {
  const used = watches.reduce((sum, { kind }) => sum + watchWeight(kind), 0)
  return { watches: watches.map(watchBody), used, max }
}

/** Throws `value_invalid`. */
export function readNewWatch({ kind, value, types = null, threshold = null }: Parameters): WatchRule {
  if (!(WATCH_KINDS as readonly unknown[]).includes(kind))
    rejectValue('kind', `"kind" must be one of ${WATCH_KINDS.join(', ')}.`)
  if (typeof value !== 'string') rejectValue('value', '"value" must be a text.')
  if ((value as string).trim() === '')
    rejectValue('value', `"value" is empty: send one such as ${KIND_PROPERTIES[kind as WatchKind].examples[0]}.`)
  const parsed = parseWatchValue(kind as WatchKind, value as string)
  if ('problem' in parsed) rejectValue('value', `The value does not fit the kind ${kind}: ${parsed.problem}`)
  const rule = { kind: kind as WatchKind, value: parsed.value }
  return { ...rule, types: readTypes(rule.kind, types), threshold: readThreshold(rule.kind, threshold) }
}

/** A type that the kind never matches is refused, so that nobody waits for its events. */
function readTypes(kind: WatchKind, types: unknown): DifferenceType[] | null {
  if (types === null) return null
  const possible = typesOfKind(kind)
  if (!Array.isArray(types)) rejectValue('types', '"types" must be a list.')
  const wanted = types as unknown[]
  if (wanted.length === 0) rejectValue('types', '"types" is empty: leave it out if all types are to match.')
  const other = wanted.find((type) => !(possible as readonly unknown[]).includes(type))
  if (other !== undefined)
    rejectValue('types', `"types" of a watch of the kind ${kind} can have ${possible.join(', ')} only.`)
  return DIFFERENCE_TYPES.filter((type) => wanted.includes(type))
}

function readThreshold(kind: WatchKind, threshold: unknown): number | null {
  const bounds = thresholdOfKind(kind)
  if (threshold === null) return bounds?.fallback ?? null
  if (bounds === null) rejectValue('threshold', `Only a watch of ${THRESHOLD_KINDS.join(' or ')} has a "threshold".`)
  const { min, max } = bounds!
  return Number.isInteger(threshold) && Number(threshold) >= min && Number(threshold) <= max
    ? Number(threshold)
    : rejectValue('threshold', `"threshold" of a watch of ${kind} must be a whole number from ${min} to ${max}.`)
}

/** Whether a watch is to be muted. Throws `value_invalid`. */
export function readMuted({ muted }: Parameters): boolean {
  return typeof muted === 'boolean' ? muted : rejectValue('muted', '"muted" must be true or false.')
}

/** Throws `value_invalid` for a value. */
export function rejectValue(field: string, msg: string): never {
  throw new ApiError('value_invalid', { msg, extra: { field } })
}
