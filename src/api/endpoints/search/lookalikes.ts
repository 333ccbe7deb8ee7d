/** GET /lookalikes: the known names that can be taken for the domain of a brand. */

import { type Brand, MIN_BRAND_CHARACTERS, parseBrand } from '../../../lookalikes/brand.ts'
import { BrandLookalikes, type Lookalike } from '../../../lookalikes/lookalikes.ts'
import { REASONS } from '../../../lookalikes/reasons.ts'
import { yieldToEventLoop } from '../../../store/shared/event-loop.ts'
import { compareBytewise } from '../../../values/bytewise-order.ts'
import { nameProblem, parseName } from '../../../values/domain-name.ts'
import { hostOfUrl } from '../../../values/host-alternative.ts'
import { ApiError, SESSION_ERRORS } from '../../http/errors.ts'
import { readTextParameter } from '../../http/parameters.ts'
import type { Endpoint, EndpointCall, EndpointResult } from '../endpoint.ts'
import { CURSOR_ERRORS, indexPositionText, pageBody, parseIndexPosition, readPage } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import {
  DomainSchema,
  enumString,
  exactObject,
  limitParameter,
  nullable,
  PageMetaSchemas,
  PageParameterSchemas,
  RegisteredSchema,
  Type,
  UtcInstantSchema,
  yesNoSchema,
} from '../schema.ts'
import { readLookalikeRows, SHARED } from './lookalike-rows.ts'

const DEFAULT_ROWS = 100
/** The maximum number of rows, of which each needs the facts of its name and its page. */
export const MAX_LOOKALIKES = 500

const orUnknown = (description: string) =>
  nullable(yesNoSchema(description), `${description} Null: it was not observed.`)

const RowSchemas = {
  name: DomainSchema,
  reasons: Type.Array(enumString(REASONS, 'A reason.'), { description: 'Why it is listed, the most telling first.' }),
  score: Type.Integer({ minimum: 1, maximum: 100, description: 'How easily it is taken for the brand, by its name.' }),
  first_seen: nullable(UtcInstantSchema, 'The first observation of a record or a website; null: none yet.'),
  registered: RegisteredSchema,
  observed: nullable(UtcInstantSchema, 'The newest observation of its DNS; null: none yet.'),
  resolves: orUnknown('Whether it has addresses.'),
  mail: orUnknown('Whether it has mail hosts.'),
  website: orUnknown('Whether it has a website.'),
  redirects_to: nullable(DomainSchema, 'The other domain to which it redirects.'),
  similarity: nullable(
    Type.Number({ minimum: 0, maximum: 1 }),
    "The similarity of its start page to the brand's, as in `/similar`; null if one of both is not on record.",
  ),
  shares: Type.Array(enumString(SHARED, 'What both have.'), {
    description: 'What it has in common with the brand: it then probably belongs to the same owner.',
  }),
}
export const LOOKALIKE_FIELDS = Object.keys(RowSchemas)

export const lookalikes: Endpoint = {
  name: 'lookalikes',
  summary: 'Find names that imitate a brand',
  description:
    'The known names that can be taken for a domain, by typing errors, letters that look or sound alike, other suffixes, ' +
    'added words, or characters of other scripts, the highest `score` first, then by name. After them come the names ' +
    'that only contain the label of the brand, in the order of `/search`. Names below the domain itself are left out. ' +
    'A page may be short before the last. Each response is charged as one call.',
  envelope: 'top',
  parameters: Type.Object({
    of: Type.String({
      description: `The domain of the brand. Its label needs ${MIN_BRAND_CHARACTERS} characters or more.`,
      examples: ['example.com', 'login.example.com'],
    }),
    limit: Type.Optional(limitParameter(DEFAULT_ROWS, `At most ${MAX_LOOKALIKES}.`)),
    next: PageParameterSchemas.next,
  }),
  response: exactObject({
    meta: exactObject({
      query: DomainSchema,
      complete: Type.Boolean({
        description: 'False if so many names have a candidate label that only a part of them was read.',
      }),
      ...PageMetaSchemas,
    }),
    result: Type.Array(exactObject(RowSchemas)),
  }),
  file: null,
  errors: ['brand_invalid', ...CURSOR_ERRORS, 'no_data', 'index_incomplete', ...SESSION_ERRORS],
  handle: findLookalikes,
}

async function findLookalikes(call: EndpointCall): Promise<EndpointResult> {
  const { name, brand } = readBrand(call)
  const limits = { fallback: DEFAULT_ROWS, max: Math.min(MAX_LOOKALIKES, call.caller.limits.pageRows) }
  const page = readPage(call, 'lookalikes', name, limits)
  await requireCompleteIndex(call.inverse)
  const found = new BrandLookalikes(brand)
  await yieldToEventLoop()
  const { scored, isComplete } = await readScored(call, found)
  await yieldToEventLoop()
  const after = parsePosition(page.position)
  const rest = 'contained' in after ? [] : scored.filter((each) => isAfter(each, after))
  const listed = rest.slice(0, page.limit)
  let next = rest.length > listed.length ? positionOf(listed.at(-1)!) : null
  if (next === null) {
    const start = 'contained' in after ? after.contained : null
    const contained = await readContained(call, found, start, page.limit - listed.length)
    listed.push(...contained.names)
    next = contained.next
  }
  const rows = await readLookalikeRows(call, [name, brand.domain], listed)
  if (rows.length === 0 && next === null && page.position === null)
    throw new ApiError('no_data', { msg: `No known name looks like ${name}.` })
  return {
    body: pageBody(page, [`"query":"${name}","complete":${isComplete}`], rows, next),
    lastObserved: null,
  }
}

function readBrand({ parameters }: EndpointCall): { name: Brand['domain']; brand: Brand } {
  const text = readTextParameter(parameters, 'of', 'brand_invalid')
  if (text === null) throw new ApiError('brand_invalid')
  const name = hostOfUrl(text) ?? parseName(text)
  if (name === null) throw new ApiError('brand_invalid', { msg: `"of" is not a domain name: ${nameProblem(text)}.` })
  const brand = parseBrand(name)
  if (typeof brand === 'string') throw new ApiError('brand_invalid', { msg: brand })
  return { name, brand }
}

/** All lookalikes but those that only contain the label, in the order of the answer. */
async function readScored(
  { inverse }: EndpointCall,
  brand: BrandLookalikes,
): Promise<{ scored: Lookalike[]; isComplete: boolean }> {
  const candidates = await inverse.namesOfParts(brand.parts)
  const halves = brand.halves === null ? null : await inverse.namesOfParts(brand.halves)
  const judged = [...new Set([...candidates.names, ...(halves?.names ?? [])])].map((name) => brand.judge(name))
  const scored = judged.filter((each) => each !== null && !isContained(each)) as Lookalike[]
  return {
    scored: scored.sort((a, b) => b.score - a.score || compareBytewise(a.name, b.name)),
    isComplete: candidates.isComplete && (halves?.isComplete ?? true),
  }
}

/** The names that only contain the label, from a position of the index on. `next`: as `positionOf`. */
async function readContained(
  { inverse }: EndpointCall,
  brand: BrandLookalikes,
  start: Uint8Array | null,
  limit: number,
): Promise<{ names: Lookalike[]; next: string | null }> {
  if (limit === 0) return { names: [], next: CONTAINED }
  const isListed = (name: string): boolean => {
    const judged = brand.judge(name as Brand['domain'])
    return judged !== null && isContained(judged)
  }
  const { names, position } = await inverse.names({ by: 'inside', text: brand.contained }, isListed, start, limit)
  return {
    names: names.map((name) => brand.judge(name)!),
    next: position === null ? null : CONTAINED + indexPositionText(position),
  }
}

function isContained({ reasons }: Lookalike): boolean {
  return reasons[0] === 'contains'
}

/** Before a position of the index. A row has its score and its name instead. */
const CONTAINED = 'c'

type Position = { score: number; name: string } | { contained: Uint8Array | null }

function positionOf({ score, name }: Lookalike): string {
  return `${score} ${name}`
}

function parsePosition(text: string | null): Position {
  if (text === null) return { score: Number.POSITIVE_INFINITY, name: '' }
  if (text.startsWith(CONTAINED)) return { contained: parseIndexPosition(text.slice(CONTAINED.length) || null) }
  const [score, name] = text.split(' ')
  return { score: Number(score), name: name! }
}

function isAfter(row: Lookalike, { score, name }: { score: number; name: string }): boolean {
  return row.score < score || (row.score === score && compareBytewise(row.name, name) > 0)
}
