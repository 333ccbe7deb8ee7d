/** The live region: screen readers read out what is announced here. */

import { createSignal, useSignal } from '../client/signal.ts'

const announcement = createSignal('')

/** Reads out a sentence. */
export function announce(text: string): void {
  announcement.set(announcement.get() === text ? `${text} ` : text)
}

export function LiveRegion() {
  return (
    <div class="hidden" role="status" aria-live="polite">
      {useSignal(announcement)}
    </div>
  )
}
