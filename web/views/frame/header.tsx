/** The header: mark, search box, navigation, calls left, colour scheme and account. */

import { useEffect, useState } from 'preact/hooks'
import { quota } from '../../client/http.ts'
import { signInAddress } from '../../client/router.ts'
import { accountOf, session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import { Icon, Mark } from '../../parts/icons.tsx'
import { announce } from '../../parts/live-region.tsx'
import { formatCount } from '../../parts/text/numbers.ts'
import { QueryBox } from '../explorer/search/query-box.tsx'

type Scheme = 'light' | 'dark'

const LINKS = [
  ['/', 'Explorer'],
  ['/search', 'Search'],
  ['/watches', 'Watches'],
  ['/account/tokens', 'API access'],
  ['/account/files', 'Files'],
  ['/docs', 'Reference'],
] as const
/** For accounts of the role `admin`. */
const OPERATOR_LINK = ['/operator', 'Operator'] as const

/** The link of the navigation that a path belongs to. */
function currentLink(path: string): string {
  if (path.startsWith('/domain/') || path.startsWith('/ip/') || path === '/') return '/'
  if (path.startsWith('/account/usage')) return '/account/tokens'
  return [...LINKS, OPERATOR_LINK].map(([link]) => link).find((link) => link !== '/' && path.startsWith(link)) ?? ''
}

export function Header({ path, query }: { path: string; query: string | undefined }) {
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => setIsOpen(false), [path])
  return (
    <header class="top">
      <div class="top-line">
        <a class="brand" href="/">
          <Mark />
          domaindex
        </a>
        <div class="top-search">{path !== '/' && <QueryBox value={query ?? ''} />}</div>
        <button
          class="icon-button menu-button"
          type="button"
          aria-expanded={isOpen}
          aria-controls="menu"
          onClick={() => setIsOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'cross' : 'menu'} />
          <span class="hidden">Menu</span>
        </button>
        <div id="menu" class={isOpen ? 'menu open' : 'menu'}>
          <Navigation path={path} />
          <CallsLeft />
          <SchemeSwitch />
          <AccountLink path={path} />
        </div>
      </div>
    </header>
  )
}

function Navigation({ path }: { path: string }) {
  const current = currentLink(path)
  const isOperator = accountOf(useSignal(session))?.role === 'admin'
  return (
    <nav aria-label="Main">
      {[...LINKS, ...(isOperator ? [OPERATOR_LINK] : [])].map(([href, text]) => (
        <a key={href} href={href} aria-current={href === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}

function CallsLeft() {
  const left = useSignal(quota)
  if (left === null || left.remaining === null) return null
  return (
    <a class="calls-left" href="/account/usage" title="Calls left today">
      <strong>{formatCount(left.remaining)}</strong> calls left
    </a>
  )
}

function AccountLink({ path }: { path: string }) {
  const state = useSignal(session)
  const account = accountOf(state)
  if (state === null) return null
  if (account === null) {
    return (
      <a class="button primary small" href={path.startsWith('/sign-') ? path : signInAddress()}>
        Sign in
      </a>
    )
  }
  return (
    <a
      class="account-link"
      href="/account"
      aria-current={path === '/account' ? 'page' : undefined}
      title={account.email}
    >
      <span class="avatar" aria-hidden="true">
        {account.email.slice(0, 1).toUpperCase()}
      </span>
      <span class="account-text">Account</span>
    </a>
  )
}

function currentScheme(): Scheme {
  const chosen = document.documentElement.dataset.scheme
  if (chosen === 'light' || chosen === 'dark') return chosen
  return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** The switch between the light and the dark colour scheme. The choice stays in this browser. */
function SchemeSwitch() {
  const [scheme, setScheme] = useState(currentScheme())
  const other = scheme === 'dark' ? 'light' : 'dark'
  const change = (): void => {
    document.documentElement.dataset.scheme = other
    setScheme(other)
    announce(`The colours are ${other} now.`)
    try {
      localStorage.setItem('domaindex-scheme', other)
    } catch {
      // storage is blocked: the choice lasts until the page is loaded again
    }
  }
  return (
    <button class="icon-button scheme-switch" type="button" aria-label={`Use ${other} colours`} onClick={change}>
      <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
    </button>
  )
}
