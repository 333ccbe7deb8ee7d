/** The page of each address: its title and its view. */

import type { ComponentChildren } from 'preact'
import { AccountArea } from '../account/area.tsx'
import { SignInArea } from '../account/sign-in/area.tsx'
import { AddressPage } from '../explorer/address.tsx'
import { DomainPage } from '../explorer/domain.tsx'
import { Home } from '../explorer/search/home.tsx'
import { OperatorArea } from '../operator/area.tsx'
import { Reference } from '../reference/reference.tsx'

/** `needsAccount`: the view is for people who are signed in. `query`: what the search box in the header shows. */
export type Route = { title: string; view: ComponentChildren; needsAccount: boolean; query?: string }

const DOMAIN_VIEWS: Record<string, string> = {
  '': '',
  history: 'DNS history of ',
  neighbours: 'Neighbours of ',
  redirects: 'Redirects of ',
  similar: 'Pages similar to ',
}

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

export function routeOf(path: string): Route {
  const [, area = '', subject = '', view = ''] = path.split('/').map(decoded)
  if (path === '/') return { title: 'domaindex', view: <Home />, needsAccount: false }
  if (area === 'domain' && subject !== '' && view in DOMAIN_VIEWS) return domainRoute(subject, view)
  if (area === 'ip' && subject !== '')
    return { title: subject, view: <AddressPage key={subject} address={subject} />, needsAccount: true, query: subject }
  if (path in ACCOUNT_TITLES)
    return { title: ACCOUNT_TITLES[path]!, view: <AccountArea path={path} />, needsAccount: true }
  if (area === 'operator') return { title: 'Operator', view: <OperatorArea path={path} />, needsAccount: true }
  if (path in SIGN_IN_TITLES)
    return { title: SIGN_IN_TITLES[path]!, view: <SignInArea path={path} />, needsAccount: false }
  if (area === 'docs') return { title: 'API reference', view: <Reference path={subject} />, needsAccount: false }
  return { title: 'Not found', view: <NotFound />, needsAccount: false }
}

function domainRoute(name: string, view: string): Route {
  const title = `${DOMAIN_VIEWS[view]}${name}`
  return { title, view: <DomainPage key={name} name={name} view={view} />, needsAccount: true, query: name }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
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
