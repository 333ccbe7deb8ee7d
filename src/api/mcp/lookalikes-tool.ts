/** The tool that finds the names that imitate a brand. */

import { type JsonSchema, type ObjectSchema, Type } from '../endpoints/schema.ts'
import { lookalikes } from '../endpoints/search/lookalikes.ts'
import { limitSchema, resultSchema, type Tool, wantedRows } from './tool.ts'

const LIMITS = { fallback: 50, max: 500 }

const { of, next } = lookalikes.parameters.properties
const { result } = (lookalikes.response as ObjectSchema).properties as { result: JsonSchema }

export const lookalikesTool: Tool = {
  name: 'find_lookalikes',
  title: 'Which names imitate it?',
  description:
    'The known domains that can be taken for the domain of a brand: typing errors, letters that look or sound alike, ' +
    'other suffixes, added words such as login, characters of other scripts. The highest score first, with the reasons, ' +
    'and last the names that only contain the brand. `shares` names what a row has in common with the brand: it then ' +
    'probably belongs to the same owner. Costs 1 call of the daily limit.',
  input: Type.Object({ of: of!, limit: limitSchema(LIMITS.fallback, LIMITS.max), next: next! }),
  output: resultSchema({ query: Type.String(), rows: result }),
  async call(source, values) {
    const { status, body } = await source.ask('lookalikes', {
      of: values.of,
      ...(values.next != null && { next: values.next }),
      limit: wantedRows(values, LIMITS),
    })
    if (status !== 200) return { refused: { status, body } }
    const { meta, result: rows } = body as {
      meta: { query: string; complete: boolean; next: string | null }
      result: object[]
    }
    const notes = meta.complete ? [] : ['Many names have a candidate label, and only a part of them is listed.']
    return { result: { query: meta.query, rows, next: meta.next, notes } }
  },
}
