/** Reads the lines of a batch: the endpoint and the parameters of each. */

import { isObject } from '../../values/json-object.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { ENDPOINTS } from '../endpoints/endpoints.ts'
import type { Parameters } from '../endpoints/parameters.ts'
import { ApiError } from '../errors.ts'

/** The maximum number of lines of a batch. */
export const MAX_BATCH_LINES = 1_000
/** The maximum size of a batch in bytes. A line with the longest name and a cursor has less than 1,000. */
export const MAX_BATCH_BODY_BYTES = 2 ** 20

/** The endpoints that send no files. */
const BATCH_ENDPOINTS = new Map(
  ENDPOINTS.filter(({ file }) => file === null).map((each) => [each.name as string, each]),
)

/** A call of a batch. */
export type BatchCall = { endpoint: Endpoint; parameters: Parameters }

/** The lines of a body that are not blank. Throws `batch_invalid` if there are none or too many. */
export function splitBatch(body: string): string[] {
  const lines: string[] = []
  for (let start = 0; start < body.length && lines.length <= MAX_BATCH_LINES; ) {
    const feed = body.indexOf('\n', start)
    const end = feed < 0 ? body.length : feed
    const line = body.slice(start, end).trim()
    if (line !== '') lines.push(line)
    start = end + 1
  }
  if (lines.length === 0) throw new ApiError('batch_invalid', { msg: NO_LINES_MESSAGE })
  if (lines.length > MAX_BATCH_LINES) throw new ApiError('batch_invalid')
  return lines
}

const NO_LINES_MESSAGE =
  'The batch is empty: send one JSON object per line, such as {"endpoint":"lookup","query":"example.com"}.'

/** The call of a line. Throws `line_invalid` if it is no JSON object, and `endpoint_unknown`. */
export function parseBatchLine(line: string): BatchCall {
  const parameters = parseObject(line)
  if (parameters === null) throw new ApiError('line_invalid')
  const { endpoint: name } = parameters
  const endpoint = typeof name === 'string' ? BATCH_ENDPOINTS.get(name) : undefined
  if (endpoint === undefined) throw new ApiError('endpoint_unknown', { msg: UNKNOWN_ENDPOINT_MESSAGE })
  return { endpoint, parameters }
}

const UNKNOWN_ENDPOINT_MESSAGE = `The "endpoint" of a line must be one of ${[...BATCH_ENDPOINTS.keys()].join(', ')}.`

function parseObject(line: string): Parameters | null {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
