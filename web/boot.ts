/**
 * The script in the document itself, which runs before the other files are there: sets the chosen colour scheme, and
 * starts the first calls of the view.
 */

import { pathOf } from './client/address.ts'
import { firstCalls } from './client/first-calls.ts'
import { callHeaders, type SessionState } from './client/started-calls.ts'

function setScheme(): void {
  try {
    const scheme = localStorage.getItem('domaindex-scheme')
    if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.scheme = scheme
  } catch {
    // storage is blocked: the system's scheme applies
  }
}

function startCalls({ session, calls }: Window['started']): void {
  const csrf = session?.csrf ?? null
  const headers = callHeaders(csrf)
  const paths = firstCalls(pathOf(location), new URLSearchParams(location.search), csrf !== null)
  for (const path of paths) {
    const call = fetch(path, { headers })
    call.catch(() => {}) // the caller that takes it reports the error
    calls.set(path, call)
  }
}

setScheme()
const session = JSON.parse(document.getElementById('session')!.textContent!) as SessionState | null
window.started = { session, calls: new Map() }
startCalls(window.started)
