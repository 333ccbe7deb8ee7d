/** Frames rows for the clients of DNSDB (Streaming API Framing): selects them, and writes a line for each. */

import type { TimeFence } from '../../store/port/inverse.ts'
import { absoluteName } from '../../values/records/presentation.ts'
import { formatInstant, type Instant } from '../../values/time.ts'
import type { RowLimits } from './lookup-request.ts'
import type { DnsdbRow, RowBatches } from './rows.ts'

const BOUND_MESSAGE =
  'The request has read as much as one may: ask for fewer names or a smaller network. Of one name, only the newest states ' +
  'of each type are read.'

/** The line of a failure after the first line was sent. */
export const FAILED_LINE = '{"cond":"failed","msg":"The server failed to answer this request: try again."}\n'
const BEGIN_LINE = '{"cond":"begin"}\n'

/** The lines of a lookup, in pieces: the begin, a line for each row within the limits, and how it ended. */
export async function* lookupLines(
  rows: RowBatches,
  limits: RowLimits,
  objectJson: (row: DnsdbRow) => string = (row) => rowJson(row, limits.isHumanTime),
): AsyncGenerator<string> {
  yield BEGIN_LINE
  const selection = selectRows(rows, limits)
  for (;;) {
    const { done, value } = await selection.next()
    if (done) return yield endLine(value)
    yield value.map((row) => `{"obj":${objectJson(row)}}\n`).join('')
  }
}

/** The lines of a summary: one for all rows within the limits, none if there are no rows. */
export async function* summaryLines(rows: RowBatches, limits: RowLimits): AsyncGenerator<string> {
  let [count, results, first, last] = [0, 0, Number.POSITIVE_INFINITY, 0]
  const selection = selectRows(rows, limits)
  for (;;) {
    const { done, value } = await selection.next()
    if (done) {
      const times = timesJson({ first, last }, limits.isHumanTime)
      const object = `{"obj":{"count":${count},"num_results":${results},${times}}}\n`
      return yield `${BEGIN_LINE}${results === 0 ? '' : object}${endLine(value)}`
    }
    for (const row of value) {
      count += row.count
      results++
      first = Math.min(first, row.first)
      last = Math.max(last, row.last)
    }
  }
}

/**
 * The rows within the fence, after the offset, up to the limit and up to the row that reaches `maxCount`. Returns why
 * rows are missing; null if none are.
 */
async function* selectRows(
  rows: RowBatches,
  { fence, limit, offset, maxCount }: RowLimits,
): AsyncGenerator<DnsdbRow[], string | null> {
  let [skipped, taken, count] = [0, 0, 0]
  for (;;) {
    const { done, value } = await rows.next()
    if (done) return value ? BOUND_MESSAGE : null
    const selected: DnsdbRow[] = []
    for (const row of value) {
      if (!isWithin(fence, row)) continue
      if (skipped++ < offset) continue
      const isFull = taken === limit
      if (isFull || count >= maxCount) {
        await rows.return(false)
        yield selected
        return isFull ? `The limit of ${limit} results is reached.` : `The count of ${maxCount} is reached.`
      }
      selected.push(row)
      taken++
      count += row.count
    }
    yield selected
  }
}

/** The bounds of a fence are exclusive. */
function isWithin({ firstBefore, firstAfter, lastBefore, lastAfter }: TimeFence, { first, last }: DnsdbRow): boolean {
  return (
    (firstBefore === undefined || first < firstBefore) &&
    (firstAfter === undefined || first > firstAfter) &&
    (lastBefore === undefined || last < lastBefore) &&
    (lastAfter === undefined || last > lastAfter)
  )
}

function endLine(missing: string | null): string {
  return missing === null ? '{"cond":"succeeded"}\n' : `{"cond":"limited","msg":${JSON.stringify(missing)}}\n`
}

function rowJson(row: DnsdbRow, isHumanTime: boolean): string {
  const { name, type, rdata, bailiwick, count } = row
  const zone = bailiwick === null ? '' : `"bailiwick":"${absoluteName(bailiwick)}",`
  const head = `"count":${count},${timesJson(row, isHumanTime)},"rrname":"${absoluteName(name)}","rrtype":"${type}"`
  return `{${head},${zone}"rdata":${JSON.stringify(rdata)}}`
}

/** A row of a flexible search: a name and a type. `isVerbose`: also its count and its times. */
export function flexibleRowJson({ name, type, ...row }: DnsdbRow, isVerbose: boolean, isHumanTime: boolean): string {
  const times = isVerbose ? `,"count":${row.count},${timesJson(row, isHumanTime)}` : ''
  return `{"rrname":"${absoluteName(name)}","rrtype":"${type}"${times}}`
}

function timesJson({ first, last }: { first: Instant; last: Instant }, isHumanTime: boolean): string {
  const text = (time: Instant): string => (isHumanTime ? `"${formatInstant(time)}Z"` : String(time))
  return `"time_first":${text(first)},"time_last":${text(last)}`
}
