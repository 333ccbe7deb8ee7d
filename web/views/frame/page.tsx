/** The page: header, the view of the address, and footer. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type Area, areaOf, needsAccount, networkOf, partsOf } from '../../client/address.ts'
import { DOMAIN_VIEWS } from '../../client/domain-views.ts'
import { CallError } from '../../client/http.ts'
import { OPERATOR_TABS, operatedAccount } from '../../client/paths.ts'
import { navigate, pageAddress, signInAddress } from '../../client/router.ts'
import { accountOf, isSignedOut, loadSession, session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import { announce, LiveRegion } from '../../parts/live-region.tsx'
import { ErrorBox, Loading } from '../../parts/notice.tsx'
import { Home } from '../explorer/search/home.tsx'
import { AreaOf } from './area-loader.tsx'
import { Header } from './header.tsx'

/** `needsAccount`: the view is for people who are signed in. `query`: what the search box in the header shows. */
type Route = { title: string; query?: string; view: ComponentChildren; needsAccount: boolean }

/** The pages with a fixed address. */
const TITLES: Readonly<Record<string, string>> = {
  '/watches': 'Watches',
  '/account': 'Account',
  '/account/tokens': 'Tokens',
  '/account/usage': 'Usage',
  '/account/files': 'Plan and files',
  '/sign-in': 'Sign in',
  '/sign-up': 'Create an account',
  '/setup': 'Set up this installation',
  '/verify': 'Verify your address',
  '/reset': 'Reset your password',
}

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
  const mustSignIn = isSignedOut(state)
  useEffect(() => {
    if (mustSignIn) navigate(signInAddress(), { replace: true })
  }, [mustSignIn])
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

/** The page of each address: its title and its view. */
function routeOf(path: string): Route {
  if (path === '/') return { title: 'domaindex', view: <Home />, needsAccount: false }
  const area = areaOf(path)
  const heading = area === null ? null : headingOf(area, path)
  if (area === null || heading === null) return { title: 'Not found', view: <NotFound />, needsAccount: false }
  return { ...heading, view: <AreaOf key={area} area={area} path={path} />, needsAccount: needsAccount(area) }
}

/** Null if the area has no such page. */
function headingOf(area: Area, path: string): Pick<Route, 'title' | 'query'> | null {
  if (area === 'explorer') return explorerHeading(path)
  if (area === 'operator') return isOperatorPage(path) ? { title: 'Operator' } : null
  if (area === 'reference') return { title: 'API reference' }
  return Object.hasOwn(TITLES, path) ? { title: TITLES[path]! } : null
}

function isOperatorPage(path: string): boolean {
  return operatedAccount(path) !== null || OPERATOR_TABS.some(([address]) => address === path)
}

function explorerHeading(path: string): Pick<Route, 'title' | 'query'> | null {
  const parts = partsOf(path)
  const { section, subject, view } = parts
  if (path === '/search') return { title: 'Find names' }
  if (section === 'search' || subject === '') return null
  if (section === 'certificate') return view === '' ? { title: `Certificate ${subject}` } : null
  if (section === 'ip') return titledQuery('', networkOf(parts))
  const domainView = DOMAIN_VIEWS.find((each) => each.view === view)
  return domainView === undefined ? null : titledQuery(domainView.title, subject)
}

function titledQuery(before: string, query: string): Pick<Route, 'title' | 'query'> {
  return { title: before + query, query }
}

function NotFound() {
  return (
    <div class="narrow">
      <h1>There is no such page</h1>
      <p>
        <a href="/">Look up a domain</a> instead.
      </p>
    </div>
  )
}
