/** What the document started before the bundle was loaded (`web/boot.ts`). */

export type SessionAccount = { email: string; role: 'user' | 'admin'; plan: string }

export type SessionState = {
  account: SessionAccount | null
  csrf: string | null
  signUp: boolean
  version: string
  /** Names to try. */
  examples: readonly string[]
}

/** `session`: null if the server could not read it. `calls`: the responses of the first calls by path. */
type Started = { session: SessionState | null; calls: Map<string, Promise<Response>> }

declare global {
  interface Window {
    started: Started
  }
}

/** The headers of every call. `csrf`: null without a session. */
export function callHeaders(csrf: string | null): Record<string, string> {
  return { Accept: 'application/json', ...(csrf !== null && { 'X-CSRF-Token': csrf }) }
}

/** The response of a call that the document started; undefined for any other call. Each is taken once. */
export function takeStarted(path: string): Promise<Response> | undefined {
  const { calls } = window.started
  const call = calls.get(path)
  calls.delete(path)
  return call
}

/** Forgets the calls of the session of the document, because another one begins. */
export function forgetStarted(): void {
  window.started.calls.clear()
}
