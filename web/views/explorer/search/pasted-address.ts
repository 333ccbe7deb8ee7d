/** Where what people enter in a search box leads. */

import { parsePastedNetwork, parsePastedQuery, parsePastedSearch } from '../../../../src/values/pasted/pasted-query.ts'
import { explorerAddress, ipPath, searchPath } from '../../../client/paths.ts'

/** The address of the view of a text; null if the text is no query. */
export function addressOfText(text: string): string | null {
  const search = parsePastedSearch(text)
  if (search !== null) return searchPath({ q: search })
  const network = parsePastedNetwork(text)
  if (network !== null) return ipPath(network)
  const query = parsePastedQuery(text)
  return query && explorerAddress(query)
}
