/** The site: what every request of one process is answered with. */

import type { Logger } from 'pino'
import type { Retrieval } from '../retrieval/retrieval.ts'
import { plainWords, StoreFault } from '../store/fault.ts'
import type { Facts } from '../store/store.ts'
import type { Outlet } from './answer.ts'
import type { ClientLimits } from './client-limits.ts'
import type { Reading } from './download.ts'
import { overloaded, Refusal } from './errors.ts'
import type { Gate } from './gate.ts'
import type { Keyring } from './keyring.ts'
import type { Lanes } from './lanes.ts'
import type { Meter } from './meter.ts'
import type { Metrics } from './metrics.ts'
import type { Wishing } from './wishing.ts'

export type Site = {
  facts: Facts
  retrieval: Retrieval
  shelf: Reading
  gate: Gate
  /** Of calls, until their answer is handed over; of downloads, until their last byte is. */
  lanes: Lanes
  downloads: Lanes
  meter: Meter
  keyring: Keyring
  outlet: Outlet
  /** Wants a name for an account that looked it up in vain. */
  wishing: Wishing
  isReady: () => boolean
  clients: ClientLimits
  /** Milliseconds of a clock that is never set. */
  ticks: () => number
  metrics: Pick<Metrics, 'refuse'>
  log: Logger
}

const STORE = 'The store of this service does not answer: try again.'

/** The refusal that an error is answered with; a fault of ours is logged whole, and the client hears nothing of it. */
export function refusalOf({ log }: Pick<Site, 'log'>, id: string, thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown
  log.error({ request: id, err: thrown }, 'internal error')
  const isOfStore = thrown instanceof StoreFault || plainWords(thrown) !== null
  return isOfStore ? overloaded(STORE) : new Refusal('internal_error')
}
