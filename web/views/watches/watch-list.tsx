/** The watches of the account: each can be muted and removed. */

import { useState } from 'preact/hooks'
import { KIND_PROPERTIES, thresholdOfKind, WEIGHTS_TEXT, watchWeight } from '../../../src/values/watch-kind.ts'
import { callServer } from '../../client/http.ts'
import { Button, RowAction } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox } from '../../parts/notice.tsx'
import { Switch } from '../../parts/switch.tsx'
import { Table } from '../../parts/table.tsx'
import { formatCount } from '../../parts/text/numbers.ts'
import { Day } from '../../parts/time.tsx'
import { useForm } from '../account/form.tsx'
import { TYPE_TEXTS, type Watch, type WatchListBody } from './watches.ts'

type WatchListProps = { body: WatchListBody; reload: () => Promise<void> }

export function WatchList({ body: { watches, used, max }, reload }: WatchListProps) {
  const [removed, setRemoved] = useState<Watch | null>(null)
  const { error, isBusy, run } = useForm()
  const mute = ({ id, value, muted }: Watch): void =>
    void run(async () => {
      await callServer(`/watches/${id}`, { method: 'PATCH', body: { muted: muted === null } })
      announce(muted === null ? `${value} is muted.` : `${value} is not muted any more.`)
      await reload()
    })
  return (
    <Card title="Your watches" aside={`${formatCount(used)} of ${formatCount(max)} used`}>
      {error !== null && <ErrorBox error={error} />}
      {watches.some(({ kind }) => watchWeight(kind) > 1) && <p class="hint card-about">{WEIGHTS_TEXT}</p>}
      {watches.length === 0 ? (
        <EmptyState title="You watch nothing yet">Create a watch, and its events appear below.</EmptyState>
      ) : (
        <WatchTable watches={watches} isBusy={isBusy} onMute={mute} onRemove={setRemoved} />
      )}
      {removed !== null && <RemoveDialog watch={removed} reload={reload} onClose={() => setRemoved(null)} />}
    </Card>
  )
}

type WatchTableProps = {
  watches: readonly Watch[]
  isBusy: boolean
  onMute: (watch: Watch) => void
  onRemove: (watch: Watch) => void
}

function WatchTable({ watches, isBusy, onMute, onRemove }: WatchTableProps) {
  return (
    <Table
      caption="Watches of this account"
      stacks
      keyOf={({ id }) => id}
      rows={watches}
      columns={[
        { name: 'Watch', cell: WatchName },
        { name: 'Changes', cell: TypesCell },
        { name: 'Created', cell: ({ created }) => <Day at={created} /> },
        {
          name: 'Muted',
          cell: (watch) => (
            <Switch
              label={`Mute the watch of ${watch.value}`}
              isLabelHidden
              isOn={watch.muted !== null}
              disabled={isBusy}
              onToggle={() => onMute(watch)}
            />
          ),
        },
        {
          name: 'Action',
          isHidden: true,
          cell: (watch) => (
            <RowAction
              text="Remove"
              what={`the watch of ${watch.value}`}
              isBusy={isBusy}
              onAct={() => onRemove(watch)}
            />
          ),
        },
      ]}
    />
  )
}

function WatchName({ kind, value }: Watch) {
  return (
    <span class="watch-name">
      <strong class="mono wrap">{value}</strong>
      <span class="hint">{KIND_PROPERTIES[kind].subject}</span>
    </span>
  )
}

function TypesCell({ kind, types, threshold }: Watch) {
  return (
    <span class="watch-name">
      <span>{types === null ? 'all' : types.map((type) => TYPE_TEXTS[type]).join(', ')}</span>
      {threshold !== null && (
        <span class="hint">
          {thresholdOfKind(kind)?.meaning}: {threshold}
        </span>
      )}
    </span>
  )
}

type RemoveDialogProps = { watch: Watch; reload: () => Promise<void>; onClose: () => void }

function RemoveDialog({ watch, reload, onClose }: RemoveDialogProps) {
  const { error, isBusy, run } = useForm()
  const remove = (): void =>
    void run(async () => {
      await callServer(`/watches/${watch.id}`, { method: 'DELETE' })
      announce(`The watch of ${watch.value} is removed.`)
      await reload()
      onClose()
    })
  return (
    <Dialog title={`Remove the watch of ${watch.value}?`} onClose={onClose}>
      <div class="form">
        {error !== null && <ErrorBox error={error} />}
        <p>It matches nothing from now on. Its events stay for 30 days.</p>
        <div class="form-row">
          <Button kind="danger" onClick={remove} isBusy={isBusy}>
            Remove the watch
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  )
}
