/** A part of a page that opens on demand. Its content is made when it opens for the first time. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

type DisclosureProps = { summary: ComponentChildren; children: () => ComponentChildren }

export function Disclosure({ summary, children }: DisclosureProps) {
  const [wasOpen, setWasOpen] = useState(false)
  return (
    <details class="disclosure" onToggle={() => setWasOpen(true)}>
      <summary>{summary}</summary>
      <div>{wasOpen && children()}</div>
    </details>
  )
}
