/** The area of an address: loads its script once, and shows it. */

import type { ComponentType } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { type Area, areaOf, pathOf, reachedArea } from '../../client/address.ts'
import { CallError } from '../../client/http.ts'
import { isSignedOut, session } from '../../client/session.ts'
import { ErrorBox, Loading } from '../../parts/notice.tsx'

type AreaView = ComponentType<{ path: string }>

const LOADERS: Readonly<Record<Area, () => Promise<AreaView>>> = {
  explorer: () => import('../explorer/area.tsx').then(({ ExplorerArea }) => ExplorerArea),
  watches: () => import('../watches/area.tsx').then(({ WatchesArea }) => WatchesArea),
  account: () => import('../account/area.tsx').then(({ AccountArea }) => AccountArea),
  'sign-in': () => import('../sign-in/area.tsx').then(({ SignInArea }) => SignInArea),
  operator: () => import('../operator/area.tsx').then(({ OperatorArea }) => OperatorArea),
  reference: () => import('../reference/area.tsx').then(({ ReferenceArea }) => ReferenceArea),
}

const loaded = new Map<Area, AreaView>()
/** The area with which this document was loaded. */
const documentArea = areaOf(pathOf(window.location))

async function loadArea(area: Area): Promise<AreaView> {
  const view = await LOADERS[area]()
  loaded.set(area, view)
  return view
}

function loadAhead(area: Area | null): void {
  if (area !== null && !loaded.has(area)) loadArea(area).catch(() => {}) // AreaOf reports it
}

/**
 * Loads the area of the document before the page is rendered, and that of a link or of the search box as soon as the
 * pointer or the focus is on it.
 */
export function loadAreasAhead(): void {
  const loadBehind = ({ target }: Event): void => {
    if (target instanceof Element) loadAhead(areaBehind(target))
  }
  document.addEventListener('pointerover', loadBehind, { passive: true })
  document.addEventListener('focusin', loadBehind)
  loadAhead(areaNow(pathOf(window.location)))
}

function areaNow(path: string): Area | null {
  return reachedArea(path, isSignedOut(session.get()))
}

function areaBehind(element: Element): Area | null {
  if (element.matches('input[name=query]')) return areaNow('/search')
  const link = element.closest('a')
  return link === null || link.origin !== window.location.origin ? null : areaNow(pathOf(link))
}

/** `key`: the area. */
export function AreaOf({ area, path }: { area: Area; path: string }) {
  const [View, setView] = useState(() => loaded.get(area))
  const [error, setError] = useState<CallError | null>(null)
  useLayoutEffect(() => {
    if (View !== undefined) return
    loadArea(area).then(
      (view) => setView(() => view),
      (cause) => setError(failedLoad(area, cause)),
    )
  }, [])
  if (View !== undefined) return <View path={path} />
  if (error !== null) return <ErrorBox error={error} onRetry={() => window.location.reload()} />
  return <Loading what="this page" />
}

/**
 * What to show if the script of an area cannot be loaded. A new release has other scripts, and some browsers load a
 * script that failed never again: so the document is loaded again, unless it was loaded for this area.
 */
function failedLoad(area: Area, cause: unknown): CallError | null {
  reportError(cause)
  const { onLine } = window.navigator
  if (onLine && area !== documentArea) {
    window.location.reload()
    return null
  }
  return new CallError(0, onLine ? 'internal_error' : 'offline', 'This page cannot be loaded. Try again.', null, null)
}
