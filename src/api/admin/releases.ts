/** Releases of held daily files by operators. The job scheduler builds the file again. */

import { fileName } from '../../jobs/file-store/file-store.ts'
import { jsonResponse } from '../app/app-handler.ts'
import { readDay, valueError } from '../app/request-values.ts'
import { ApiError } from '../errors.ts'
import type { OperatorResponse } from './repeated-request.ts'
import type { OperatorCall } from './route.ts'

/** Requests the release of the file of a day. Throws `not_found` if it has none, and `conflict` if it is not held. */
export async function requestReleaseByOperator({ context, operator, body }: OperatorCall): Promise<OperatorResponse> {
  const date = readDay(body, 'date')
  if (date === null) throw valueError('date', 'Send the day of the file as "date", such as 2026-01-31.')
  const file = await context.fileStore.open(fileName('daily', date))
  if (file === null) throw new ApiError('not_found', { msg: `There is no file of ${date}.` })
  const { held } = file.manifest
  await file.close()
  if (held === null) throw new ApiError('conflict', { msg: `The file of ${date} is not held.` })
  await context.ledger.as(operator.actor).requestRelease(date, operator.now)
  return jsonResponse(202, { date, release_requested: true })
}
