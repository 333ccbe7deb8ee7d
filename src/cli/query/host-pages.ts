/** Asks for the host of a query, and for its registrable domain if nothing is on record for the host. */

import { DomaindexError } from '../../../client/src/client.ts'
import { alternativeNote } from '../../values/host-alternative.ts'
import type { AskQuery, Page } from './ask-queries.ts'
import type { QueryCalls } from './batched-calls.ts'
import type { AskEndpoint } from './pages.ts'

/**
 * Makes up to 2 further calls: a look-up of the host, unless `isLookup` says that `ask` is one, and the same question
 * for its registrable domain.
 */
export function orRegistrableDomain(client: Pick<QueryCalls, 'lookup'>, ask: AskEndpoint, isLookup: boolean): AskQuery {
  return async function* ({ value, alternative }, signal) {
    const pages = ask(value, signal)
    if (alternative === null) return yield* pages
    const first: Page | DomaindexError = await firstPage(pages)
    if (isOfOtherQuery(first) || (isNothing(first) && (isLookup || (await isUnknown(client, value, signal))))) {
      let note: string | undefined = alternativeNote(alternative)
      for await (const page of ask(alternative.domain, signal)) {
        yield note === undefined ? page : { ...page, note }
        note = undefined
      }
      return
    }
    if (first instanceof DomaindexError) throw first
    yield first
    yield* pages
  }
}

async function firstPage(pages: AsyncGenerator<Page, void, void>): Promise<Page | DomaindexError> {
  try {
    return (await pages.next()).value as Page
  } catch (error) {
    if (error instanceof DomaindexError) return error
    throw error
  }
}

/** Whether a cursor is of another query: that of an earlier page, which was answered for the registrable domain. */
function isOfOtherQuery(first: Page | DomaindexError): boolean {
  return first instanceof DomaindexError && first.error === 'cursor_mismatch'
}

function isNothing(first: Page | DomaindexError): boolean {
  return first instanceof DomaindexError ? first.error === 'no_data' : first.rows.length + first.rest.length === 0
}

async function isUnknown(client: Pick<QueryCalls, 'lookup'>, host: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.lookup(host, { signal })
    return false
  } catch (error) {
    if (error instanceof DomaindexError && error.error === 'no_data') return true
    throw error
  }
}
