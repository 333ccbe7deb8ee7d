/**
 * /app/api/uses: the domains that use a host as name server, mail host or alias, or that have a TXT record, and when. A
 * call of the web page; programs ask the DNSDB API.
 */

import { readSpanPage, type SpanSource } from '../../../export/span-page.ts'
import type { HostType, InverseQuery, InverseSpan } from '../../../store/port/inverse.ts'
import { parseHostName } from '../../../values/records/host-name.ts'
import { formatInstant } from '../../../values/time.ts'
import { ApiError } from '../../http/errors.ts'
import { type Parameters, readTextParameter } from '../../http/parameters.ts'
import type { Endpoint } from '../endpoint.ts'
import { CURSOR_ERRORS, indexPositionText, pageBody, parseIndexPosition, readPage } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import { exactObject, nullable, PageMetaSchemas, PageParameterSchemas, Type } from '../schema.ts'
import { AddressTimesSchema } from './address-times.ts'

/** The records by which a domain uses a host. An SOA repeats a name server. */
const USES = ['NS', 'MX', 'CNAME'] as const satisfies readonly HostType[]
/** The present and the past. */
const ALWAYS = { from: null, to: null }

const { target, first_seen, last_seen } = (
  AddressTimesSchema.properties.result as unknown as { items: typeof AddressTimesSchema }
).items.properties

export const uses: Endpoint = {
  name: 'uses',
  summary: 'The domains that use a host or a TXT record',
  description: 'With `host`, by NS, MX and CNAME records; with `text`, by a TXT record with exactly these parts.',
  envelope: 'top',
  parameters: Type.Object({
    host: Type.Optional(Type.String({ description: 'A host name.' })),
    text: Type.Optional(Type.String({ description: 'The `parts` of a TXT record, a JSON array of strings.' })),
    ...PageParameterSchemas,
  }),
  response: exactObject({
    meta: exactObject({ ...PageMetaSchemas }),
    result: Type.Array(
      exactObject({
        target: target!,
        type: Type.String(),
        priority: nullable(Type.Integer(), 'Of an MX record.'),
        first_seen: first_seen!,
        last_seen: last_seen!,
      }),
    ),
  }),
  file: null,
  errors: ['value_invalid', ...CURSOR_ERRORS, 'no_data', 'index_incomplete'],
  async handle(call) {
    const { parameters, inverse } = call
    const query = readUsed(parameters)
    const page = readPage(call, 'uses', JSON.stringify(query))
    const after = parseIndexPosition(page.position)
    await requireCompleteIndex(inverse)
    const source: SpanSource<InverseSpan> = {
      read: (...read) => inverse.spans(query, ...read),
      wasNewest: async () => true, // asked at a moment only
    }
    const { spans, position } = await readSpanPage(source, ALWAYS, after, page.limit)
    if (spans.length === 0 && position === null && after === null)
      throw new ApiError('no_data', { msg: 'No domain is on record that uses this.' })
    const rows = spans.map(({ name, data, first, last }) => {
      const times = `"first_seen":"${formatInstant(first)}Z","last_seen":"${formatInstant(last)}Z"`
      return `{"target":"${name}","type":"${data.type}","priority":${data.type === 'MX' ? data.priority : null},${times}}`
    })
    return { body: pageBody(page, [], rows, indexPositionText(position)), lastObserved: null }
  },
}

/** What is used. Throws `value_invalid` unless there is either a host or a text. */
function readUsed(parameters: Parameters): InverseQuery {
  const hostText = readTextParameter(parameters, 'host', 'value_invalid')
  const text = readTextParameter(parameters, 'text', 'value_invalid')
  const host = hostText === null ? null : parseHostName(hostText)
  if (host !== null && text === null) return { by: 'hosts', host, match: 'exact', types: USES }
  const parts = text === null || hostText !== null ? null : parseParts(text)
  if (parts !== null) return { by: 'text', parts }
  throw new ApiError('value_invalid', { msg: 'Send either "host", a host name, or "text", a JSON array of strings.' })
}

function parseParts(text: string): string[] | null {
  try {
    const parts: unknown = JSON.parse(text)
    return Array.isArray(parts) && parts.length > 0 && parts.every((part) => typeof part === 'string') ? parts : null
  } catch {
    return null
  }
}
