/** GET /domain/NAME/redirects: the domains that redirected to a domain, and when. */

import { readRedirectPage } from '../../../export/redirects-over-time.ts'
import type { InverseReader } from '../../../store/port/inverse.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { ApiError, SESSION_ERRORS } from '../../http/errors.ts'
import type { Endpoint } from '../endpoint.ts'
import { CURSOR_ERRORS, indexPositionText, pageBody, parseIndexPosition, readPage } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import { DomainSchema, exactObject, PageMetaSchemas, PageParameterSchemas, Type, UtcInstantSchema } from '../schema.ts'
import {
  instantJson,
  momentParameter,
  readRemovedBefore,
  readTime,
  removedText,
  TimeMetaSchemas,
  timeJson,
  timeQuestion,
} from './moment.ts'
import { RequestedSchema, requestedNames } from './requested-name.ts'

export const redirecthistory: Endpoint = {
  name: 'redirecthistory',
  summary: 'The domains that redirected to a domain, and when',
  description:
    'One row for each domain, host and uninterrupted time in which its website redirected to the domain or to a host ' +
    'below it: at a moment with `at`, in a time with `from` and `to`, otherwise in the present and the past. A page may ' +
    'be short before the last. Each response is charged as one call. `/redirect` lists the present ones.',
  envelope: 'top',
  parameters: Type.Object({
    name: Type.String({ description: 'A domain.', examples: ['example.com'] }),
    at: momentParameter('The redirects that a store which ended at this moment would show.'),
    from: momentParameter('The redirects that were there at or after this moment.', 'its first second'),
    to: momentParameter('The redirects that were there at or before this moment.'),
    ...PageParameterSchemas,
  }),
  response: exactObject({
    meta: exactObject({
      query: DomainSchema,
      requested: RequestedSchema,
      ...TimeMetaSchemas,
      ...PageMetaSchemas,
    }),
    result: Type.Array(
      exactObject({
        target: DomainSchema,
        redirect_host: Type.String({
          ...DomainSchema,
          description: 'The host to which it redirected; its domain if the host is not known.',
        }),
        first_seen: UtcInstantSchema,
        last_seen: UtcInstantSchema,
      }),
    ),
  }),
  file: null,
  errors: ['domain_format', 'date_format', ...CURSOR_ERRORS, 'no_data', 'index_incomplete', ...SESSION_ERRORS],
  async handle(call) {
    const { parameters, caller, facts, inverse } = call
    const names = requestedNames(call)
    const time = readTime(parameters, caller.now)
    const page = readPage(call, 'redirecthistory', `${names[0]!.name} ${Object.values(time).join(' ')}`)
    const after = parseIndexPosition(page.position)
    await requireCompleteIndex(inverse)
    const isKnown =
      names.length === 1 ||
      (await hasRedirects(inverse, names[0]!.name)) ||
      (await facts.lookup(names[0]!.name)) !== null
    const { name, requested } = names[isKnown ? 0 : 1]!
    const { spans, position } = await readRedirectPage(call, name, timeQuestion(time), after, page.limit)
    const removedBefore = await readRemovedBefore(facts, 'web', time)
    if (spans.length === 0 && position === null && after === null)
      throw new ApiError('no_data', {
        msg: `No redirect to ${name} is on record${Object.values(time).some((each) => each !== null) ? ' for this time' : ''}.${removedText(removedBefore)}`,
      })
    const rows = spans.map(
      ({ name, host, first, last }) =>
        `{"target":"${name}","redirect_host":"${host}","first_seen":${instantJson(first)},"last_seen":${instantJson(last)}}`,
    )
    const about = [`"query":"${name}"`, `"requested":${JSON.stringify(requested)}`, timeJson(time, removedBefore)]
    return { body: pageBody(page, about, rows, indexPositionText(position)), lastObserved: null }
  },
}

/** Whether anything ever redirected to a host. */
async function hasRedirects(inverse: InverseReader, host: DomainName): Promise<boolean> {
  const { spans, position } = await inverse.redirects(host, {}, null, 1)
  return spans.length > 0 || position !== null
}
