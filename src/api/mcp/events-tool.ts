/** The tool that reads what the watches of the account matched. */

import { type JsonSchema, type ObjectSchema, Type } from '../endpoints/schema.ts'
import { EVENTS } from '../endpoints/watch/events.ts'
import { limitSchema, resultSchema, type Tool, wantedRows } from './tool.ts'

const LIMITS = { fallback: 100, max: 500 }

const { result } = (EVENTS.response as ObjectSchema).properties as { result: JsonSchema }

export const eventsTool: Tool = {
  name: 'watch_events',
  title: 'What changed among what I watch?',
  description:
    'The changes of the last 30 days that the watches of the account matched, oldest first: new names, records that ' +
    'appeared and disappeared, redirects, certificates, websites, texts. If `next` is not null, repeat the call with it ' +
    'as `after`. Costs 1 call of the daily limit, and nothing without events.',
  input: Type.Object({
    after: Type.Optional(
      Type.String({
        description: 'The `next` of an earlier result, or the `id` of its last event: only later events.',
      }),
    ),
    limit: limitSchema(LIMITS.fallback, LIMITS.max),
  }),
  output: resultSchema({ events: result }),
  async call(source, values) {
    const { after } = values
    const limit = wantedRows(values, LIMITS)
    const { status, body } = await source.ask('events', { ...(after != null && { after: String(after) }), limit })
    if (status !== 200) return { refused: { status, body } }
    const { meta, result: events } = body as { meta: { next: number }; result: object[] }
    return { result: { events, next: events.length < limit ? null : String(meta.next), notes: [] } }
  },
}
