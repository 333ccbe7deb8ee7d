/** The page: header, the view of the address, and footer. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { partsOf } from '../../client/address.ts'
import { CallError } from '../../client/http.ts'
import { navigate, pageAddress, signInAddress } from '../../client/router.ts'
import { accountOf, loadSession, session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import { announce, LiveRegion } from '../../parts/live-region.tsx'
import { ErrorBox, Loading } from '../../parts/notice.tsx'
import { AccountArea } from '../account/area.tsx'
import { SignInArea } from '../account/sign-in/area.tsx'
import { AddressPage } from '../explorer/address.tsx'
import { DOMAIN_VIEWS, DomainPage } from '../explorer/domain.tsx'
import { CertificatePage } from '../explorer/past/certificate.tsx'
import { Home } from '../explorer/search/home.tsx'
import { SearchPage } from '../explorer/search/search-page.tsx'
import { OperatorArea } from '../operator/area.tsx'
import { Reference } from '../reference/reference.tsx'
import { WatchesPage } from '../watches/watches-page.tsx'
import { Header } from './header.tsx'

/** `needsAccount`: the view is for people who are signed in. `query`: what the search box in the header shows. */
type Route = { title: string; view: ComponentChildren; needsAccount: boolean; query?: string }

const ACCOUNT_TITLES: Record<string, string> = {
  '/account': 'Account',
  '/account/tokens': 'Tokens',
  '/account/usage': 'Usage',
  '/account/files': 'Plan and files',
}
const SIGN_IN_TITLES: Record<string, string> = {
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

/** The page of each address: its title and its view. */
function routeOf(path: string): Route {
  const { area, subject, view } = partsOf(path)
  if (path === '/') return { title: 'domaindex', view: <Home />, needsAccount: false }
  const domainView = DOMAIN_VIEWS.find((each) => each.view === view)
  if (area === 'domain' && subject !== '' && domainView) return domainRoute(subject, domainView)
  if (area === 'ip' && subject !== '') return addressRoute(view === '' ? subject : `${subject}/${view}`)
  if (area === 'certificate' && subject !== '' && view === '') return certificateRoute(subject)
  if (path === '/search') return { title: 'Find names', view: <SearchPage />, needsAccount: true }
  if (path === '/watches') return { title: 'Watches', view: <WatchesPage />, needsAccount: true }
  if (path in ACCOUNT_TITLES)
    return { title: ACCOUNT_TITLES[path]!, view: <AccountArea path={path} />, needsAccount: true }
  if (area === 'operator') return { title: 'Operator', view: <OperatorArea path={path} />, needsAccount: true }
  if (path in SIGN_IN_TITLES)
    return { title: SIGN_IN_TITLES[path]!, view: <SignInArea path={path} />, needsAccount: false }
  if (area === 'docs') return { title: 'API reference', view: <Reference path={subject} />, needsAccount: false }
  return { title: 'Not found', view: <NotFound />, needsAccount: false }
}

/** `address`: an address or a network. */
function addressRoute(address: string): Route {
  const view = <AddressPage key={address} address={address} />
  return { title: address, view, needsAccount: true, query: address }
}

function certificateRoute(sha256: string): Route {
  const view = <CertificatePage key={sha256} sha256={sha256} />
  return { title: `Certificate ${sha256}`, view, needsAccount: true }
}

function domainRoute(name: string, { view, title }: (typeof DOMAIN_VIEWS)[number]): Route {
  const page = <DomainPage key={name} name={name} view={view} />
  return { title: title + name, view: page, needsAccount: true, query: name }
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
