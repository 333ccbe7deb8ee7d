/** POST /watches/preview: what a watch would have matched in the last 30 days, before it is created. */

import { MAX_PREVIEW_ROWS, readWatchPreview } from '../../../export/watch-preview.ts'
import { EVENT_SECONDS } from '../../../store/port/watch/events.ts'
import { DIFFERENCE_TYPES } from '../../../values/watch-kind.ts'
import { SESSION_ERRORS } from '../../http/errors.ts'
import type { Endpoint } from '../endpoint.ts'
import { requireCompleteIndex } from '../pdns.ts'
import { instantJson } from '../profiles/moment.ts'
import {
  DomainSchema,
  enumString,
  exactObject,
  nullable,
  OkMessageSchema,
  RcodeSchema,
  Type,
  UtcInstantSchema,
} from '../schema.ts'
import { KindSchema, NewWatchSchema, readNewWatch, rejectValue } from './watches.ts'

const TypeSchema = enumString(DIFFERENCE_TYPES, 'What changed.')

const RowSchemas = {
  name: nullable(DomainSchema, 'The name that changed; null for a certificate that a log published.'),
  observed_at: nullable(
    UtcInstantSchema,
    'When the change was observed; of what disappeared, its last observation; null for a name that a list added.',
  ),
  type: TypeSchema,
}
export const PREVIEW_FIELDS = Object.keys(RowSchemas)

export const PreviewSchema = exactObject({
  meta: exactObject({
    kind: KindSchema,
    value: Type.String({ description: 'In canonical form.' }),
    from: UtcInstantSchema,
    types: Type.Array(TypeSchema, { description: 'The differences that were looked for.' }),
    complete: Type.Boolean({ description: 'Whether there are no further rows of these types.' }),
    rcode: RcodeSchema,
    msg: OkMessageSchema,
  }),
  result: Type.Array(exactObject(RowSchemas), { maxItems: MAX_PREVIEW_ROWS }),
})

export const preview: Endpoint = {
  name: 'preview',
  summary: 'What a watch would have matched in the last 30 days',
  description:
    'Takes the body of `POST /watches`, and creates nothing. The rows come from the history on record: the changes of a ' +
    'name newest first, of a suffix or a pattern the new names, of other kinds what appeared and disappeared, in the ' +
    `order of the index, at most ${MAX_PREVIEW_ROWS}. \`meta.types\` says which differences were looked for, and ` +
    '`meta.complete` is false if there may be further rows of these. The text of a start page has no preview. Each ' +
    'response is charged as one call.',
  envelope: 'top',
  parameters: NewWatchSchema,
  response: PreviewSchema,
  file: null,
  errors: ['value_invalid', 'index_incomplete', ...SESSION_ERRORS],
  async handle(call) {
    const rule = readNewWatch(call.parameters)
    const since = call.caller.now - EVENT_SECONDS
    await requireCompleteIndex(call.inverse)
    const found =
      (await readWatchPreview(call, rule, since)) ??
      rejectValue('kind', `A watch of the kind ${rule.kind} has no preview, because former texts are not kept.`)
    const { rows, types, isComplete } = found
    const about = `"kind":"${rule.kind}","value":${JSON.stringify(rule.value)},"from":${instantJson(since)}`
    const meta = `${about},"types":${JSON.stringify(types)},"complete":${isComplete},"rcode":200,"msg":"ok"`
    const lines = rows.map(
      ({ name, observed_at, type }) =>
        `{"name":${JSON.stringify(name)},"observed_at":${instantJson(observed_at)},"type":"${type}"}`,
    )
    return { body: [`{"meta":{${meta}},"result":[${lines.join()}]}`], lastObserved: null }
  },
}
