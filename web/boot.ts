/**
 * The script in the document itself, which runs before the other files are there: sets the chosen colour scheme, and
 * begins the first calls of the view.
 */

import { pathOf } from './client/address.ts'
import type { SessionState } from './client/begun.ts'
import { firstCalls } from './client/first-calls.ts'

function setScheme(): void {
  try {
    const scheme = localStorage.getItem('domaindex-scheme')
    if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.scheme = scheme
  } catch {
    // storage is blocked: the system's scheme applies
  }
}

function beginCalls(session: SessionState | null): Map<string, Promise<Response>> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (session?.csrf) headers['X-CSRF-Token'] = session.csrf
  const paths = firstCalls(pathOf(location), new URLSearchParams(location.search), session?.csrf != null)
  return new Map(
    paths.map((path) => {
      const call = fetch(path, { headers })
      call.catch(() => {}) // who takes the response reports it
      return [path, call]
    }),
  )
}

setScheme()
const session = JSON.parse(document.getElementById('session')!.textContent!) as SessionState | null
window.begun = { session, calls: beginCalls(session) }
