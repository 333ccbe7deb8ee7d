/** What a query of known names finds, by looking at one name. */

import type { NameQuery } from '../../src/store/port/inverse.ts'

export function isFoundBy({ by, text }: NameQuery, name: string): boolean {
  if (by === 'inside') return name.includes(text)
  if (by === 'start') return name.startsWith(text)
  return name.endsWith(by === 'below' ? `.${text}` : text)
}
