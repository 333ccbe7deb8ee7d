/** The tool that finds known names by a part of them. */

import { type JsonSchema, type ObjectSchema, Type } from '../endpoints/schema.ts'
import { FILTERS } from '../endpoints/search/filters.ts'
import { search } from '../endpoints/search/search.ts'
import { limitSchema, resultSchema, type Tool, wantedRows } from './tool.ts'

const LIMITS = { fallback: 100, max: 500 }

const { q, next, limit: _, ...filters } = search.parameters.properties
const { result } = (search.response as ObjectSchema).properties as { result: JsonSchema }

export const searchTool: Tool = {
  name: 'search_names',
  title: 'Which names contain it?',
  description:
    'The known domains that contain a text such as a brand, that match a pattern such as bank* or *.bank, or a regular ' +
    'expression between slashes, also domains that were never observed. A result may have few rows, or none, although ' +
    'more follow: if `next` is not null, repeat the call with it as `next`. Costs 1 call of the daily limit.',
  input: Type.Object({
    q: q!,
    ...filters,
    limit: limitSchema(LIMITS.fallback, LIMITS.max),
    next: next!,
  }),
  output: resultSchema({ query: Type.String(), rows: result }),
  async call(source, values) {
    const texts = ['q', 'next', ...FILTERS].flatMap((key) => (values[key] == null ? [] : [[key, String(values[key])]]))
    const { status, body } = await source.ask('search', {
      ...Object.fromEntries(texts),
      limit: wantedRows(values, LIMITS),
    })
    if (status !== 200) return { refused: { status, body } }
    const { meta, result: rows } = body as { meta: { query: string; next: string | null }; result: object[] }
    return { result: { query: meta.query, rows, next: meta.next, notes: [] } }
  },
}
