/** What a query of known names finds, by looking at one name. */

import type { NameQuery } from '../../src/search/name-query.ts'

export function isFoundBy({ by, text }: NameQuery, name: string): boolean {
  if (by === 'inside') return name.includes(text)
  if (by === 'start') return name.startsWith(text)
  return name.endsWith(by === 'below' ? `.${text}` : text)
}
