/** The router: the address of the page, and navigation without loading a new document. */

import { pathOf } from './address.ts'
import { createSignal } from './signal.ts'

/** `path`: decoded by segment, not as a whole, so that it stays encoded here. */
type PageAddress = { path: string; query: URLSearchParams; hash: string }

export const pageAddress = createSignal<PageAddress>(readAddress())

function readAddress(): PageAddress {
  const { search, hash } = window.location
  return { path: pathOf(window.location), query: new URLSearchParams(search), hash: hash.slice(1) }
}

/** Shows another address. `replace`: the current one is not kept in the history. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) window.history.replaceState(null, '', to)
  else window.history.pushState(null, '', to)
  pageAddress.set(readAddress())
  if (!replace) window.scrollTo(0, 0)
}

/** Makes links to page addresses navigate without loading a document. */
export function interceptLinks(): void {
  window.addEventListener('popstate', () => pageAddress.set(readAddress()))
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest('a')
    if (link === null || link.target !== '' || link.hasAttribute('download') || link.dataset.external !== undefined)
      return
    if (link.origin !== window.location.origin) return
    if (link.pathname === window.location.pathname && link.hash !== '') return
    event.preventDefault()
    navigate(link.pathname + link.search + link.hash)
  })
}

/** The address of the sign-in page, which returns to the current address. */
export function signInAddress(): string {
  const { pathname, search } = window.location
  return pathname === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(pathname + search)}`
}

/** An address of this page from a query string; `/` if it is that of another origin. */
export function ownAddress(text: string | null): string {
  if (text === null || !/^\/(?![/\\])/.test(text)) return '/'
  const url = new URL(text, window.location.origin)
  return url.origin === window.location.origin ? url.pathname + url.search : '/'
}
