/** The address of the view of a query. */

import type { PastedQuery } from '../../../../src/values/pasted-query.ts'

export function explorerAddress({ kind, value }: PastedQuery): string {
  return `/${kind}/${encodeURIComponent(value).replaceAll('%3A', ':')}`
}
