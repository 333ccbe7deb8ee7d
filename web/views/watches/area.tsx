/** /watches: the watches of the account, the form for a new one, and the events. */

import { WATCH_KINDS, type WatchKind } from '../../../src/values/watch-kind.ts'
import { useFresh } from '../../client/loaded.ts'
import { pageAddress } from '../../client/router.ts'
import { useSignal } from '../../client/signal.ts'
import { LoadedView } from '../../parts/notice.tsx'
import { Digest } from './digest.tsx'
import { EventList } from './event-list.tsx'
import { Feed } from './feed.tsx'
import { WatchForm } from './watch-form.tsx'
import { WatchList } from './watch-list.tsx'
import type { WatchListBody } from './watches.ts'
import { Webhooks } from './webhooks.tsx'

export function WatchesArea() {
  const { query } = useSignal(pageAddress)
  const { loaded, reload } = useFresh<WatchListBody>('/watches')
  const kind = (WATCH_KINDS as string[]).includes(query.get('kind') ?? '') ? (query.get('kind') as WatchKind) : 'name'
  const value = query.get('value') ?? ''
  return (
    <div class="stack">
      <h1>Watches</h1>
      <WatchForm key={`${kind} ${value}`} kind={kind} value={value} onCreated={() => void reload()} />
      <LoadedView loaded={loaded} what="your watches" onRetry={() => void reload()}>
        {(body) => <WatchList body={body} reload={reload} />}
      </LoadedView>
      <EventList watches={loaded.body?.watches ?? null} />
      <Webhooks watches={loaded.body?.watches ?? null} />
      <div class="overview even">
        <Digest />
        <Feed />
      </div>
    </div>
  )
}
