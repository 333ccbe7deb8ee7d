/** A view whose code is loaded when it is first shown. */

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from '../parts/notice.tsx'

/** `load` imports the component. If that fails, for example after an update of the server, the page is loaded anew. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let loaded: ComponentType<Props> | null = null
  return function LazyView(props: Props) {
    const [View, setView] = useState<ComponentType<Props> | null>(() => loaded)
    useEffect(() => {
      if (View !== null) return
      void load().then(
        (view) => {
          loaded = view
          setView(() => view)
        },
        () => window.location.reload(),
      )
    }, [View])
    return View === null ? <Loading what="this page" /> : <View {...props} />
  }
}
