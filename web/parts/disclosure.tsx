/** A part of a page that opens on demand. */

import type { ComponentChildren } from 'preact'

export function Disclosure({ summary, children }: { summary: ComponentChildren; children: ComponentChildren }) {
  return (
    <details class="disclosure">
      <summary>{summary}</summary>
      <div>{children}</div>
    </details>
  )
}
