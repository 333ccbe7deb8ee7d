/** The tools with which a language model creates, lists, mutes and removes the watches of the account. */

import { DIFFERENCE_TYPES, KIND_PROPERTIES, WATCH_KINDS } from '../../values/watch-kind.ts'
import { enumString, type JsonSchema, type ObjectSchema, Type } from '../endpoints/schema.ts'
import type { WatchOperationName } from '../endpoints/watch/operations.ts'
import { PreviewSchema } from '../endpoints/watch/preview.ts'
import { NewWatchSchema, WatchListSchema, WatchSchema } from '../endpoints/watch/watches.ts'
import type { Tool, ToolArguments } from './tool.ts'

const FREE = 'Costs nothing: it is no call of the daily limit.'

/** The kinds with examples of their values, for the description of a tool. */
const KINDS_TEXT = WATCH_KINDS.map((kind) => {
  const { examples, matches } = KIND_PROPERTIES[kind]
  return `${kind} (${examples.join(', ')}): ${matches}`
}).join('. ')

const { id } = WatchSchema.properties as { id: JsonSchema }
const RULE = NewWatchSchema.properties
const KNOWN_RULE = ['kind', 'value', 'types', 'threshold']

/** A tool that asks `operation` with some of its arguments, and returns the body. */
function watchTool(
  tool: Omit<Tool, 'call'>,
  operation: WatchOperationName | 'preview',
  readValues: (values: ToolArguments) => Record<string, unknown>,
): Tool {
  return {
    ...tool,
    async call(source, values) {
      const { status, body } = await source.ask(operation, readValues(values))
      return status === 200 ? { result: body } : { refused: { status, body } }
    },
  }
}

function ruleIn(values: ToolArguments): Record<string, unknown> {
  return Object.fromEntries(KNOWN_RULE.flatMap((key) => (values[key] == null ? [] : [[key, values[key]]])))
}

const Types = Type.Optional(
  Type.Array(enumString(DIFFERENCE_TYPES, 'A type of difference.'), { description: 'Only these differences.' }),
)

export const watchTools: readonly Tool[] = [
  watchTool(
    {
      name: 'watch_list',
      title: 'What do I watch?',
      description: `The watches of the account, and how many it may have. watch_events has what they matched. ${FREE}`,
      input: Type.Object({}),
      output: WatchListSchema,
    },
    'watches',
    () => ({}),
  ),
  watchTool(
    {
      name: 'watch_preview',
      title: 'What would a watch have matched?',
      description:
        'What a watch would have matched in the last 30 days, at most 100 rows, without creating it. `meta.types` says ' +
        'which differences were looked for, and `meta.complete` whether these are all. Costs 1 call of the daily limit.',
      input: Type.Object({ ...RULE, types: Types }),
      output: PreviewSchema,
    },
    'preview',
    ruleIn,
  ),
  watchTool(
    {
      name: 'watch_create',
      title: 'Watch it',
      description: `Creates a watch: from now on, each change that it matches is an event. Kinds: ${KINDS_TEXT}. ${FREE}`,
      input: Type.Object({ ...RULE, types: Types }),
      output: WatchSchema,
      changes: 'adds',
    },
    'createWatch',
    ruleIn,
  ),
  watchTool(
    {
      name: 'watch_mute',
      title: 'Mute a watch',
      description: `Mutes a watch, so that it matches nothing, or ends that. ${FREE}`,
      input: Type.Object({ id, muted: Type.Optional(Type.Boolean({ default: true, description: 'false: end it.' })) }),
      output: WatchSchema,
      changes: 'adds',
    },
    'muteWatch',
    (values) => ({ id: values.id, muted: values.muted ?? true }),
  ),
  watchTool(
    {
      name: 'watch_remove',
      title: 'Remove a watch',
      description: `Removes a watch. Its events stay for 30 days. Ask before you call this. ${FREE}`,
      input: Type.Object({ id }),
      output: Type.Object({}) as ObjectSchema,
      changes: 'removes',
    },
    'removeWatch',
    (values) => ({ id: values.id }),
  ),
]
