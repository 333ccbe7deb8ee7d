/** The thread of one part of the rows of a listing. */

import { parentPort, workerData } from 'node:worker_threads'
import type { ListingPage } from '../../port/listing.ts'
import { type SerializedFault, serializeFault } from '../ledger/writing/calls.ts'
import { RowPart, type RowPartOptions } from './row-part.ts'

/** To this thread. It replies to each request in turn. */
export type RowRequest =
  | { collect: { from: number; to: number } }
  | { open: readonly string[] }
  | { pages: number }
  | { close: true }
/** `reached`: the number of the facts that were collected, before the reply. */
export type RowReply = { reached: number } | { pages: ListingPage[] } | { fault: SerializedFault }

const rowThreadPort = parentPort!
let openedPart: RowPart | null = null

rowThreadPort.on('message', (request: RowRequest) => {
  try {
    const pages = pagesFor(request)
    const memory = pages.map(({ text }) => text.buffer as ArrayBuffer)
    rowThreadPort.postMessage({ pages } satisfies RowReply, memory)
  } catch (error) {
    rowThreadPort.postMessage({ fault: serializeFault(error) } satisfies RowReply)
  }
  if ('close' in request) rowThreadPort.close()
})

/** Does what is requested. Returns the pages, none for a request of something else. */
function pagesFor(request: RowRequest): ListingPage[] {
  openedPart ??= new RowPart(workerData as RowPartOptions)
  if ('pages' in request) return [...openedPart.pages(request.pages)]
  if ('open' in request) openedPart.open(request.open)
  else if ('close' in request) openedPart.close()
  else {
    const { from, to } = request.collect
    for (const reached of openedPart.collect(from, to)) rowThreadPort.postMessage({ reached } satisfies RowReply)
    openedPart.detach()
  }
  return []
}
