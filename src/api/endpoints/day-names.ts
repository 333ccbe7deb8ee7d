/** GET /registered and GET /dropped: the names of one day that a search finds, from the daily files, in pages. */

import { type FileKind, fileName } from '../../jobs/file-store/file-store.ts'
import { namesOfFile } from '../../jobs/file-store/packed-names.ts'
import type { NameFilter } from '../../search/name-query.ts'
import { matcherOf, parseSearch } from '../../search/pattern.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Day } from '../../values/time.ts'
import { ApiError } from '../http/errors.ts'
import { openPublished, type ReadableFileStore } from '../http/files/file-response.ts'
import { readTextParameter } from '../http/parameters.ts'
import { authorizeDaily, DATE_ERRORS, requireDailyAccess, requireDate } from './daily.ts'
import type { Endpoint, EndpointCall, EndpointResult } from './endpoint.ts'
import { CURSOR_ERRORS, pageBody, readPage } from './paging.ts'
import {
  DomainSchema,
  exactObject,
  limitParameter,
  nullable,
  PageMetaSchemas,
  PageParameterSchemas,
  planLimitsText,
  Type,
} from './schema.ts'

const DEFAULT_ROWS = 1_000

type DayNames = { name: 'registered' | 'dropped'; kind: Extract<FileKind, 'daily' | 'dropped'> }

function dayNames({ name, kind }: DayNames): Endpoint {
  return {
    name,
    summary: `Names ${name} on a day that a search finds`,
    description:
      `The names that were ${name} on a day, as zones and lists report them, in bytewise order. With \`q\`, those that ` +
      'contain a text, or match a pattern or a regular expression, as in `/search`. The days are those of `/daily`. Each ' +
      'response is charged as one call.',
    envelope: 'top',
    parameters: Type.Object({
      date: Type.String({ format: 'date', description: 'The day.', examples: ['2026-11-19'] }),
      q: Type.Optional(
        Type.String({
          description: 'A text, a pattern, or a regular expression between slashes.',
          examples: ['*bank*'],
        }),
      ),
      limit: Type.Optional(limitParameter(DEFAULT_ROWS, `${planLimitsText('pageRows')}.`)),
      next: PageParameterSchemas.next,
    }),
    response: exactObject({
      meta: exactObject({
        date: Type.String({ format: 'date', description: 'The day of the request.' }),
        query: nullable(Type.String(), 'The `q` of the request.'),
        ...PageMetaSchemas,
      }),
      result: Type.Array(exactObject({ name: DomainSchema })),
    }),
    file: null,
    errors: [...DATE_ERRORS, 'search_invalid', ...CURSOR_ERRORS, 'no_data'],
    authorize: authorizeDaily,
    handle: (call) => findNames(call, { name, kind }),
  }
}

export const registered = dayNames({ name: 'registered', kind: 'daily' })
export const dropped = dayNames({ name: 'dropped', kind: 'dropped' })

async function findNames(call: EndpointCall, { name, kind }: DayNames): Promise<EndpointResult> {
  const { parameters, caller, fileStore } = call
  const date = requireDate(parameters)
  const q = readTextParameter(parameters, 'q', 'search_invalid')
  const matches = matcherOfParameter(q)
  requireDailyAccess(caller, date)
  const page = readPage(call, name, JSON.stringify([date, q]), {
    fallback: DEFAULT_ROWS,
    max: caller.limits.pageRows,
  })
  const { names, last } = await readNames(fileStore, { kind, date }, matches, page)
  if (names.length === 0 && page.position === null)
    throw new ApiError('no_data', { msg: `No name that was ${name} on ${date} matches.` })
  const about = [`"date":"${date}"`, `"query":${JSON.stringify(q)}`]
  const rows = names.map((each) => `{"name":"${each}"}`)
  return { body: pageBody(page, about, rows, last), lastObserved: null }
}

function matcherOfParameter(q: string | null): NameFilter {
  if (q === null) return () => true
  const search = parseSearch(q)
  if (typeof search === 'string') throw new ApiError('search_invalid', { msg: search })
  return matcherOf(search)
}

/** The next names of a file that match. `last`: the last one if more follow, otherwise null. Throws `no_data`. */
async function readNames(
  fileStore: ReadableFileStore,
  { kind, date }: { kind: DayNames['kind']; date: Day },
  matches: NameFilter,
  { position, limit }: { position: string | null; limit: number },
): Promise<{ names: DomainName[]; last: DomainName | null }> {
  const opened = await openPublished(fileStore, fileName(kind, date))
  if (opened === null) throw new ApiError('no_data', { msg: `There is no file for ${date}.` })
  const names: DomainName[] = []
  for await (const batch of namesOfFile(opened)) {
    for (const name of batch) {
      if ((position !== null && name <= position) || !matches(name)) continue
      if (names.length === limit) return { names, last: names.at(-1)! }
      names.push(name)
    }
  }
  return { names, last: null }
}
