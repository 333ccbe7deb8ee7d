/** The watches of an account in requests and responses: their schemas, and how they are read and written. */

import type { OwnWatch } from '../../../store/port/watch/watches.ts'
import { formatInstant } from '../../../values/time.ts'
import {
  DIFFERENCE_TYPES,
  type DifferenceType,
  typesOfKind,
  WATCH_KINDS,
  type WatchKind,
} from '../../../values/watch-kind.ts'
import { DEFAULT_TEXT_THRESHOLD, parseWatchValue, type WatchRule } from '../../../watch/watch.ts'
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
  description: 'Only for the kind `text`: the percentage of words that differ from which on a change matches.',
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
  const text = (instant: number | null): string | null => (instant === null ? null : `${formatInstant(instant)}Z`)
  return { id, kind, value, threshold, types, created: text(created), muted: text(muted) }
}

/** Throws `value_invalid`. */
export function readNewWatch({ kind, value, types = null, threshold = null }: Parameters): WatchRule {
  if (!(WATCH_KINDS as readonly unknown[]).includes(kind))
    rejectValue('kind', `"kind" must be one of ${WATCH_KINDS.join(', ')}.`)
  if (typeof value !== 'string' || value.trim() === '') rejectValue('value', '"value" must be a text.')
  const parsed = parseWatchValue(kind as WatchKind, value as string)
  if ('problem' in parsed) rejectValue('value', `The value does not fit the kind ${kind}: ${parsed.problem}`)
  const rule = { kind: kind as WatchKind, value: parsed.value }
  return { ...rule, types: readTypes(rule.kind, types), threshold: readThreshold(rule.kind, threshold) }
}

/** A type that the kind never matches is refused, so that nobody waits for its events. */
function readTypes(kind: WatchKind, types: unknown): DifferenceType[] | null {
  if (types === null) return null
  const possible = typesOfKind(kind)
  if (!Array.isArray(types) || types.length === 0 || !types.every((type) => possible.includes(type)))
    rejectValue('types', `"types" must be a list, and a watch of the kind ${kind} has ${possible.join(', ')} only.`)
  return DIFFERENCE_TYPES.filter((type) => types.includes(type))
}

function readThreshold(kind: WatchKind, threshold: unknown): number | null {
  if (kind === 'text' && threshold === null) return DEFAULT_TEXT_THRESHOLD
  const isPercent = Number.isInteger(threshold) && Number(threshold) >= 1 && Number(threshold) <= 100
  if (threshold !== null && !(kind === 'text' && isPercent))
    rejectValue('threshold', '"threshold" must be a whole number from 1 to 100, and only a watch of a text has one.')
  return threshold as number | null
}

/** Whether a watch is to be muted. Throws `value_invalid`. */
export function readMuted({ muted }: Parameters): boolean {
  return typeof muted === 'boolean' ? muted : rejectValue('muted', '"muted" must be true or false.')
}

/** Throws `value_invalid` for a value. */
export function rejectValue(field: string, msg: string): never {
  throw new ApiError('value_invalid', { msg, extra: { field } })
}
