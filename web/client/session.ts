/** The session of the browser: who is signed in. */

import { CallError, callServer, quota, setCsrfToken } from './http.ts'
import { forgetLoaded } from './loaded.ts'
import { createSignal } from './signal.ts'

type SessionAccount = { email: string; role: 'user' | 'admin'; plan: string }

export type SessionState = {
  account: SessionAccount | null
  csrf: string | null
  signUp: boolean
  version: string
  /** Names to try. */
  examples: readonly string[]
}

/** Null until it is loaded; an error if it cannot be. */
export const session = createSignal<SessionState | CallError | null>(null)

/** Loads the session. The shell of the page has already started this request. */
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
  const today = new Date().toISOString().slice(0, 10)
  const usage = await callServer<{ limit: number | null; remaining: number | null }>(
    `/app/usage?from=${today}&to=${today}`,
  ).catch(() => null)
  if (usage !== null) quota.set({ limit: usage.limit, remaining: usage.remaining })
}

/** The account of a loaded session; null if nobody is signed in. */
export function accountOf(state: SessionState | CallError | null): SessionAccount | null {
  return state === null || state instanceof CallError ? null : state.account
}
