/** An API over the store of a world, for tests that change a part of it or look at the server itself. */

import { pino } from 'pino'
import { type Api, createApi } from '../../src/api/api.ts'
import type { ApiOptions } from '../../src/api/create-context.ts'
import { ApiMetrics } from '../../src/api/http/metrics.ts'
import { openSimilarityService } from '../../src/similar/query/similarity-service.ts'
import type { World } from '../spec/world.ts'

/** Creates the API without listening, with the clock of the world and the given options. The caller closes it. */
export function createWorldApi(world: World, options: Partial<ApiOptions> = {}): Promise<Api> {
  return createApi({
    store: world.store,
    similarSearch: openSimilarityService(world.store),
    fileStore: world.fileStore,
    settings: { cors: '*', trustedProxies: [] },
    now: () => world.clock.now,
    log: pino({ level: 'silent' }),
    metrics: new ApiMetrics(),
    ...options,
  })
}
