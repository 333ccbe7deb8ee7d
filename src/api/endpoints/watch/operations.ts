/** What an account does with its watches, over HTTP and by the tools for language models. It costs nothing. */

import type { OwnWatch, Watches } from '../../../store/port/watch/watches.ts'
import { WEIGHTS_TEXT } from '../../../values/watch-kind.ts'
import type { Caller } from '../../auth/authenticator.ts'
import { ApiError } from '../../http/errors.ts'
import { type Parameters, readId } from '../../http/parameters.ts'
import { readMuted, readNewWatch, watchBody, watchListBody } from './watches.ts'

/** Returns what is sent; null for nothing. Throws `value_invalid`, `not_found` and `conflict`. */
type WatchOperation = (
  ledger: Watches,
  caller: Pick<Caller, 'account' | 'limits' | 'now'>,
  values: Parameters,
) => Promise<object | null>

/** The operations by the names that they have in the OpenAPI document. `values`: of the body, and the `id` of a watch. */
export const WATCH_OPERATIONS = {
  async watches(ledger, { account, limits }) {
    return watchListBody(await ledger.watches(account.id), limits.watches)
  },
  async watch(ledger, { account }, { id }) {
    return foundBody(await ledger.watch(account.id, readId(id)))
  },
  async createWatch(ledger, { account, limits, now }, values) {
    const created = await ledger.createWatch(limits.watches, account.id, readNewWatch(values), now)
    if (created === 'too_many_watches')
      throw new ApiError('conflict', {
        msg: `The plan allows ${limits.watches} watches. ${WEIGHTS_TEXT} Remove one, or ask the operator to change your plan.`,
      })
    if (created === 'known_watch')
      throw new ApiError('conflict', { msg: 'The account has a watch of this kind and value already.' })
    return watchBody(created)
  },
  async muteWatch(ledger, { account, now }, values) {
    return foundBody(await ledger.muteWatch(account.id, readId(values.id), readMuted(values), now))
  },
  async removeWatch(ledger, { account }, { id }) {
    if (!(await ledger.removeWatch(account.id, readId(id)))) throw unknownId()
    return null
  },
} as const satisfies Record<string, WatchOperation>

export type WatchOperationName = keyof typeof WATCH_OPERATIONS

function foundBody(watch: OwnWatch | null): object {
  if (watch === null) throw unknownId()
  return watchBody(watch)
}

function unknownId(): ApiError {
  return new ApiError('not_found', { msg: 'The account has no watch with this ID.' })
}
