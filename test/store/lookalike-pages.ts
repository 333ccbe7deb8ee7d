/** Pages of lookalikes from a store, without a server. */

import type { EndpointCall } from '../../src/api/endpoints/endpoint.ts'
import { lookalikes } from '../../src/api/endpoints/search/lookalikes.ts'
import { ApiError } from '../../src/api/http/errors.ts'
import { textOfBody } from '../../src/api/http/write-parts.ts'
import { cursorKeys } from '../../src/api/signing/cursor.ts'
import type { Lookalike } from '../../src/lookalikes/lookalikes.ts'
import { openSimilarityService } from '../../src/similar/query/similarity-service.ts'
import type { Store } from '../../src/store/port/store.ts'

export type LookalikePage = { meta: { next: string | null; complete: boolean }; result: Lookalike[] }

/** Returns a function that answers parameters as the endpoint does. Without rows, the page is empty. */
export function lookalikePages(store: Store): (parameters: Record<string, unknown>) => Promise<LookalikePage> {
  const readers = {
    facts: store.facts,
    inverse: store.inverse,
    similarSearch: openSimilarityService(store),
    keys: cursorKeys([{ number: 0, bytes: Buffer.alloc(32) }]),
    caller: { now: 0, limits: { dailyCalls: null, pageRows: 1_000, historyStates: null } },
  }
  return async (parameters) => {
    try {
      const { body } = await lookalikes.handle!({ ...readers, parameters } as unknown as EndpointCall)
      return JSON.parse(textOfBody(body)) as LookalikePage
    } catch (error) {
      if (!(error instanceof ApiError) || error.key !== 'no_data') throw error
      return { meta: { next: null, complete: true }, result: [] }
    }
  }
}
