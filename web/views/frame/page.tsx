/** The page: header, the view of the address, and footer. */

import { useEffect, useRef } from 'preact/hooks'
import { CallError } from '../../client/http.ts'
import { navigate, pageAddress, signInAddress } from '../../client/router.ts'
import { accountOf, loadSession, session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import { announce, LiveRegion } from '../../parts/live-region.tsx'
import { ErrorBox, Loading } from '../../parts/notice.tsx'
import { Header } from './header.tsx'
import { type Route, routeOf } from './routes.tsx'

export function Page() {
  const { path } = useSignal(pageAddress)
  const route = routeOf(path)
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header path={path} query={route.query} />
      <Main path={path} route={route} />
      <Footer />
      <LiveRegion />
    </>
  )
}

function Main({ path, route }: { path: string; route: Route }) {
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const { title } = route
  useEffect(() => {
    document.title = title === 'domaindex' ? title : `${title} · domaindex`
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true })
      announce(title)
    }
    isFirst.current = false
  }, [title, path])
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {route.needsAccount ? <SignedIn route={route} /> : route.view}
    </main>
  )
}

/** Shows a view to people who are signed in. Others go to the sign-in page, and come back from there. */
function SignedIn({ route }: { route: Route }) {
  const state = useSignal(session)
  const isSignedOut = state !== null && !(state instanceof CallError) && state.account === null
  useEffect(() => {
    if (isSignedOut) navigate(signInAddress(), { replace: true })
  }, [isSignedOut])
  if (state instanceof CallError) return <ErrorBox error={state} onRetry={() => void loadSession()} />
  return accountOf(state) === null ? <Loading what="your session" /> : route.view
}

function Footer() {
  const state = useSignal(session)
  const version = state === null || state instanceof CallError ? '' : ` ${state.version}`
  return (
    <footer class="foot">
      <div class="foot-line">
        <span>domaindex{version}</span>
        <nav aria-label="More">
          <a href="/docs">API reference</a>
          <a href="/openapi.json" data-external>
            OpenAPI
          </a>
          <a href="/crawler" data-external>
            The crawler
          </a>
        </nav>
      </div>
    </footer>
  )
}
