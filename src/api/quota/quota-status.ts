/** The state of an account's daily budget, as responses show it. */

import { addDays, type Instant, startOfDay } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { QuotaLimiter } from './quota-limiter.ts'

/** `limit` and `remaining` are null for an account without a limit. `reset`: when the next day starts. */
export type QuotaStatus = { limit: number | null; used: number; remaining: number | null; reset: Instant }

/** What a status reads. `settleServer`: lets all processes of this server settle, so that no charge of theirs is missing. */
type QuotaStatusContext = { quotaLimiter: Pick<QuotaLimiter, 'used'>; settleServer: () => Promise<void> }

export async function quotaStatus(
  { quotaLimiter, settleServer }: QuotaStatusContext,
  caller: Caller,
): Promise<QuotaStatus> {
  await settleServer()
  const used = await quotaLimiter.used(caller)
  const limit = caller.limits.dailyCalls
  const remaining = limit === null ? null : Math.max(0, limit - used)
  return { limit, used, remaining, reset: startOfDay(addDays(caller.today, 1)) }
}
