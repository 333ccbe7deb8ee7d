/** The session of the browser: who is signed in. */

import { CallError, callServer, quota, setCsrfToken } from './http.ts'
import { forgetLoaded } from './loaded.ts'
import { usageOfTodayPath } from './paths.ts'
import { createSignal } from './signal.ts'
import type { SessionAccount, SessionState } from './started-calls.ts'

/** Null until it is loaded; an error if it cannot be. */
export const session = createSignal<SessionState | CallError | null>(null)

/** Takes over the session that the document contains, or loads it if the server could not read it then. */
export function beginSession(): void {
  const { session: state } = window.started
  if (state === null) void loadSession()
  else acceptSession(state)
}

export async function loadSession(): Promise<void> {
  try {
    acceptSession(await callServer<SessionState>('/app/session'))
  } catch (error) {
    session.set(error as CallError)
  }
}

/** Takes over the session that a sign-in returned. */
export function acceptSession(state: SessionState): void {
  setCsrfToken(state.csrf)
  forgetLoaded()
  quota.set(null)
  session.set(state)
  if (state.account !== null) void loadQuota()
}

export async function signOut(): Promise<void> {
  await callServer('/app/sign-out', { method: 'POST' })
  await loadSession()
}

async function loadQuota(): Promise<void> {
  const usage = await callServer<{ limit: number | null; remaining: number | null }>(usageOfTodayPath()).catch(
    () => null,
  )
  if (usage !== null) quota.set({ limit: usage.limit, remaining: usage.remaining })
}

/** Whether it is known that nobody is signed in. */
export function isSignedOut(state: SessionState | CallError | null): boolean {
  return state !== null && !(state instanceof CallError) && state.account === null
}

/** The account of a loaded session; null if nobody is signed in. */
export function accountOf(state: SessionState | CallError | null): SessionAccount | null {
  return state === null || state instanceof CallError ? null : state.account
}
