/** What was known of a name before a visit: visits are counted by it, so that what they come to is a share of changes. Pure. */

import type { Rhythm } from '../apply/due.ts'
import type { Current, Visit } from '../apply/known.ts'
import { lastSeen } from './count.ts'

/**
 * `website`: it had one. `dns`: it existed, and is not known to have had one. `lively`: it existed, and changed lately.
 * `failed`: it was nxdomain or servfail. `new`: nobody had looked at it.
 */
export type Past = 'website' | 'dns' | 'lively' | 'failed' | 'new'

/** A name is lively while its visits are closer together than this part of the span before the second visit. */
const LIVELY = 0.5

/** `current` is null where nothing was read of it. */
export function pastOf(visit: Visit, current: Pick<Current, 'web'> | null, { first }: Rhythm): Past {
  const last = lastSeen(visit)
  if (last === 0 || current === null) return 'new'
  if (visit.failures > 0) return 'failed'
  if (visit.due - last < LIVELY * first) return 'lively'
  return current.web?.has_website === true ? 'website' : 'dns'
}
