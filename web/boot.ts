/**
 * The script in the document itself, which runs before the other files are there: sets the chosen colour scheme, and
 * starts the first calls of the view and the load of its area.
 */

import { type Area, pathOf, reachedArea } from './client/address.ts'
import { firstCalls } from './client/first-calls.ts'
import { callHeaders, type SessionState } from './client/started-calls.ts'

/** The scripts of the areas. The build sets it. */
declare const AREA_FILES: Readonly<Record<Area, string>>

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

/** The page imports the script of the area only when it runs itself. */
function preloadArea({ session }: Window['started']): void {
  const area = reachedArea(pathOf(location), session !== null && session.account === null)
  if (area === null) return
  const link = document.createElement('link')
  link.rel = 'modulepreload'
  link.href = `/assets/${AREA_FILES[area]}`
  document.head.append(link)
}

setScheme()
const session = JSON.parse(document.getElementById('session')!.textContent!) as SessionState | null
window.started = { session, calls: new Map() }
startCalls(window.started)
preloadArea(window.started)
