/** The link to a feed of the events, for readers of Atom. */

import { useState } from 'preact/hooks'
import type { FeedResponse } from '../../../client/src/api-types.ts'
import type { NewFeed } from '../../../client/src/feed.ts'
import { callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { announce } from '../../parts/live-region.tsx'
import { ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { Day } from '../../parts/time.tsx'
import { useForm } from '../account/form.tsx'

type FeedFormProps = { created: string | null; reload: () => Promise<void> }

export function Feed() {
  const { loaded, reload } = useFresh<FeedResponse>('/feed')
  return (
    <Card title="Feed of events">
      <LoadedView loaded={loaded} what="the feed" onRetry={() => void reload()}>
        {({ created }) => <FeedForm created={created} reload={reload} />}
      </LoadedView>
    </Card>
  )
}

function FeedForm({ created, reload }: FeedFormProps) {
  const { error, isBusy, run } = useForm()
  const [path, setPath] = useState<string | null>(null)
  const create = (): void =>
    void run(async () => {
      const feed = await callServer<NewFeed>('/feed', { method: 'POST' })
      setPath(feed.path)
      await reload()
    })
  const remove = (): void =>
    void run(async () => {
      await callServer('/feed', { method: 'DELETE' })
      announce('The link is not valid any more.')
      await reload()
    })
  return (
    <div class="form">
      {error !== null && <ErrorBox error={error} />}
      <p>
        {created === null ? (
          'A secret link to your newest 100 events, for a feed reader.'
        ) : (
          <>
            The link of <Day at={created} /> is valid. A new one ends it.
          </>
        )}
      </p>
      <div class="form-row">
        <Button isBusy={isBusy} onClick={create}>
          {created === null ? 'Create a link' : 'Create a new link'}
        </Button>
        {created !== null && (
          <Button kind="danger" isBusy={isBusy} onClick={remove}>
            Remove the link
          </Button>
        )}
      </div>
      {path !== null && (
        <SecretDialog
          title="The link to your feed"
          secret={window.location.origin + path}
          what="the link"
          purpose="Anyone who has this link can read your events."
          onClose={() => setPath(null)}
        />
      )}
    </div>
  )
}
