/** The area of an address: loads its file of the bundle once, and shows it. */

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Area, areaOf, pathOf } from '../../client/address.ts'
import { CallError } from '../../client/http.ts'
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

/** Loads the file of an area. Throws CallError if the server does not send it. */
async function loadArea(area: Area): Promise<void> {
  const view = await LOADERS[area]().catch(() => {
    throw new CallError(0, 'offline', 'This part of the page cannot be loaded. Try again.', null, null)
  })
  loaded.set(area, view)
}

/** Loads the area of a link or of the search box as soon as the pointer or the focus is on it: before it is needed. */
export function loadAreasAhead(): void {
  const loadAhead = ({ target }: Event): void => {
    const area = target instanceof Element ? areaBehind(target) : null
    if (area !== null && !loaded.has(area)) loadArea(area).catch(() => {}) // AreaOf shows the error
  }
  document.addEventListener('pointerover', loadAhead, { passive: true })
  document.addEventListener('focusin', loadAhead)
}

function areaBehind(element: Element): Area | null {
  if (element.matches('input[name=query]')) return 'explorer'
  const link = element.closest('a')
  return link === null || link.origin !== window.location.origin ? null : areaOf(pathOf(link))
}

export function AreaOf({ area, path }: { area: Area; path: string }) {
  const View = loaded.get(area)
  const [error, setError] = useState<CallError | null>(null)
  const [, setIsLoaded] = useState(false)
  useEffect(() => {
    // It may have been loaded ahead since the rendering: this component renders again then too.
    if (View === undefined) loadArea(area).then(() => setIsLoaded(true), setError)
  }, [area])
  if (View !== undefined) return <View path={path} />
  // A browser does not load a file again that failed, and a new release has other files: so the document is loaded again.
  if (error !== null) return <ErrorBox error={error} onRetry={() => window.location.reload()} />
  return <Loading what="this page" />
}
