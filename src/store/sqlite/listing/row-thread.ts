/** The thread of one part of the rows of a listing. */

import { parentPort, workerData } from 'node:worker_threads'
import type { ListingPage } from '../../port/listing.ts'
import { type SerializedFault, serializeFault } from '../database/errors.ts'
import { RowPart, type RowPartOptions } from './row-part.ts'

/** To this thread. It replies to each request in turn. `pages`: the first pages of a range, or the next ones (null). */
export type RowRequest =
  | { collect: { from: number; to: number } }
  | { open: readonly string[] }
  | { pages: number | null }
  | { close: true }
/** `reached`: the number of the facts that were collected, before the reply. `more`: the range has further pages. */
export type RowReply = { reached: number } | { pages: ListingPage[]; more: boolean } | { fault: SerializedFault }

/** Pages of one reply. They wait in memory until they are taken. */
const PAGES_PER_REPLY = 4

const rowThreadPort = parentPort!
let openedPart: RowPart | null = null

rowThreadPort.on('message', (request: RowRequest) => {
  try {
    const pages = pagesFor(request)
    const memory = pages.map(({ text }) => text.buffer as ArrayBuffer)
    rowThreadPort.postMessage({ pages, more: pages.length === PAGES_PER_REPLY } satisfies RowReply, memory)
  } catch (error) {
    rowThreadPort.postMessage({ fault: serializeFault(error) } satisfies RowReply)
  }
  if ('close' in request) rowThreadPort.close()
})

/** Does what is requested. Returns the pages, none for a request of something else. */
function pagesFor(request: RowRequest): ListingPage[] {
  openedPart ??= new RowPart(workerData as RowPartOptions)
  if ('pages' in request) return nextPages(openedPart, request.pages)
  if ('open' in request) openedPart.open(request.open)
  else if ('close' in request) openedPart.close()
  else {
    const { from, to } = request.collect
    for (const reached of openedPart.collect(from, to)) rowThreadPort.postMessage({ reached } satisfies RowReply)
  }
  return []
}

function nextPages(part: RowPart, range: number | null): ListingPage[] {
  const pages: ListingPage[] = []
  for (let page = part.next(range); page !== undefined; page = part.next(null))
    if (pages.push(page) === PAGES_PER_REPLY) break
  return pages
}
