/** What the document has begun before this script was there (`web/boot.ts`). */

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
type Begun = { session: SessionState | null; calls: Map<string, Promise<Response>> }

declare global {
  interface Window {
    begun: Begun
  }
}

/** The response of a call that the document has begun; undefined for any other call. Each is taken once. */
export function takeBegun(path: string): Promise<Response> | undefined {
  const { calls } = window.begun
  const call = calls.get(path)
  calls.delete(path)
  return call
}

/** Forgets the calls of the session of the document, because another one begins. */
export function forgetBegun(): void {
  window.begun.calls.clear()
}
