/**
 * Forgets names: their facts, the crawl requests for them, and the events about certificates of logs that name them.
 * Each step can be repeated, so a command that was stopped is run again.
 */

import type { DomainName } from '../values/domain-name.ts'
import type { Difference } from '../watch/difference.ts'
import { CRAWL_REQUEST_KINDS } from './port/crawl-requests.ts'
import type { NamePage } from './port/inverse.ts'
import type { Store } from './port/store.ts'

/** Names that are found at once, and events that are read at once. */
const NAMES_PER_READ = 1_000
const EVENTS_PER_READ = 1_000

type ForgettingStore = Pick<Store, 'observations' | 'crawlRequests'>

/** Returns true if there was more than a tombstone. */
export async function forgetName({ observations, crawlRequests }: ForgettingStore, name: DomainName): Promise<boolean> {
  for (const kind of CRAWL_REQUEST_KINDS) await crawlRequests.complete(kind, [name])
  return observations.forget(name)
}

/**
 * Forgets a name and all known names below it, until the signal aborts. Calls `onForgotten` after each. Returns how many
 * were known.
 */
export async function forgetBelow(
  store: ForgettingStore & Pick<Store, 'inverse'>,
  suffix: DomainName,
  signal: AbortSignal,
  onForgotten: (forgotten: number) => void,
): Promise<number> {
  let forgotten = 0
  const forget = async (name: DomainName): Promise<void> => {
    if (await forgetName(store, name)) onForgotten(++forgotten)
  }
  let position: Uint8Array | null = null
  do {
    const page: NamePage = await store.inverse.names({ by: 'below', text: suffix }, null, position, NAMES_PER_READ)
    for (const name of page.names) if (!signal.aborted) await forget(name)
    position = page.position
  } while (position !== null && !signal.aborted)
  if (!signal.aborted) await forget(suffix)
  return forgotten
}

/** Removes the events about certificates of logs that name a host of `isForgotten`. Returns how many. */
export async function removeCertificateEvents(
  { eventRemover }: Pick<Store, 'eventRemover'>,
  isForgotten: (host: DomainName) => boolean,
): Promise<number> {
  let removed = 0
  for (let after = 0; ; ) {
    const events = await eventRemover.certificateEvents(after, EVENTS_PER_READ)
    const forgotten = events.filter(({ differences }) => certificateHosts(differences).some(isForgotten))
    if (forgotten.length > 0) await eventRemover.removeEvents(forgotten.map(({ number }) => number))
    removed += forgotten.length
    if (events.length < EVENTS_PER_READ) return removed
    after = events.at(-1)!.number
  }
}

/** Whether a host is a name or below it. */
export function isAtOrBelow(host: string, name: string): boolean {
  return host === name || host.endsWith(`.${name}`)
}

function certificateHosts(differences: string): DomainName[] {
  return (JSON.parse(differences) as Difference[]).flatMap((difference) =>
    difference.type === 'certificate'
      ? (difference.after?.names ?? []).map((name) => name.replace('*.', '') as DomainName)
      : [],
  )
}
