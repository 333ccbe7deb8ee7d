/** The link that opens the form for a watch filled in. */

import type { WatchKind } from '../../../src/values/watch-kind.ts'
import { Icon } from '../../parts/icons.tsx'
import { watchAddress } from './watches.ts'

export function WatchLink({ kind, value }: { kind: WatchKind; value: string }) {
  return (
    <a class="button small" href={watchAddress(kind, value)} aria-label={`Watch ${value}`}>
      <Icon name="bell" /> Watch
    </a>
  )
}
