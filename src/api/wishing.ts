/** Names that callers look up in vain: each is wanted to be visited soon, up to a number an account and day. */

import type { Wishes } from '../store/wishes.ts'
import type { Name } from '../words/name.ts'
import { type Day, dayOf, type Instant } from '../words/time.ts'

/** Wants a name for an account, beside whatever is answered. */
export type Wishing = (account: number, name: Name) => void

/** `most`: names an account and day; `onFault` is told of a wish that could not be kept. */
type WishingOptions = { wishes: Wishes; most: number; now: () => Instant; onFault: (error: unknown) => void }

/** Wishes on their way at once, and names and accounts that are remembered, at most. */
const UNDER_WAY = 100
const KEPT = 10_000

export function makeWishing({ wishes, most, now, onFault }: WishingOptions): Wishing {
  let day: Day | null = null
  let underWay = 0
  const wanted = new Set<Name>()
  const spent = new Set<number>()

  const isNeedless = (account: number, name: Name, today: Day): boolean => {
    const isFull = wanted.size >= KEPT || spent.size >= KEPT
    if (day !== today || isFull) {
      wanted.clear()
      spent.clear()
      day = today
    }
    return spent.has(account) || wanted.has(name) || underWay >= UNDER_WAY
  }

  return (account, name) => {
    const today = dayOf(now())
    if (isNeedless(account, name, today)) return
    wanted.add(name)
    underWay++
    const keep = async (): Promise<void> => {
      if (!(await wishes.ask({ account, day: today, name, most }))) {
        spent.add(account)
        wanted.delete(name)
      }
    }
    keep()
      .catch((error) => {
        wanted.delete(name)
        onFault(error)
      })
      .finally(() => underWay--)
  }
}
