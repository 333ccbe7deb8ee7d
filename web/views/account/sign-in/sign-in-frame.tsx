/** The frame of the pages of people without a session. */

import type { ComponentChildren } from 'preact'

export function SignInFrame({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="narrow stack">
      <h1>{title}</h1>
      {children}
    </div>
  )
}

/** The code in the fragment of an address, which browsers send to no server. */
export function codeOf(hash: string): string | null {
  return new URLSearchParams(hash).get('code')
}
