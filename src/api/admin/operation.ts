/** The state of the crawl and of the nightly jobs for operators. */

import { jsonResponse } from '../app/app-handler.ts'
import { ApiError } from '../errors.ts'
import type { OperatorResponse } from './repeated-request.ts'
import type { OperatorCall } from './route.ts'

/** Throws `not_found` if this server has no access to the crawl and the jobs. */
export async function showOperation({ context: { operation, installation } }: OperatorCall): Promise<OperatorResponse> {
  if (operation === null) throw new ApiError('not_found')
  return jsonResponse(200, { version: installation.version, ...(await operation()) })
}
