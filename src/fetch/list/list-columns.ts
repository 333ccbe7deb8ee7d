/** Finds the name in a line of a list: a bare name, RANK,NAME, or a column of CSV (RFC 4180). Pure. */

import { InputError } from '../../import/stream/input-error.ts'
import { parseListLine } from '../../import/stream/list-line.ts'
import type { ReadListLine } from '../../registrations/list/parse-list.ts'
import { csvFields } from '../../values/csv.ts'
import { parseName, registrableDomain } from '../../values/domain-name.ts'

/**
 * Returns a reader of lines that replaces each name by its registrable domain, so that a host name counts as its
 * domain. `column`: a header, or a number from 1; null for one name or RANK,NAME per line.
 */
export function listLineReader(column: string | null): ReadListLine {
  if (column === null) return (text) => registrableText(parseListLine(text))
  if (/^\d+$/.test(column)) return (text) => registrableText(csvField(text, Number(column) - 1))
  let index = -1
  return (text, line) => {
    if (index >= 0) return text.trim() === column ? '' : registrableText(csvField(text, index))
    if (line > 1) throw new InputError(`it has no column ${JSON.stringify(column)}`)
    index = csvFields(text.replace(/^\uFEFF/, '')).findIndex((header) => header.trim() === column)
    if (index < 0) throw new InputError(`it has no column ${JSON.stringify(column)}`)
    return ''
  }
}

/** Leaves a text that is no name as it is, so that it is rejected with its reason. */
function registrableText(text: string): string {
  const name = parseName(text)
  return name === null ? text : registrableDomain(name)
}

function csvField(line: string, index: number): string {
  return csvFields(line)[index]?.trim() ?? ''
}
