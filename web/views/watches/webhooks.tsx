/** The webhooks of the account: URLs to which events are sent as they come. */

import { useState } from 'preact/hooks'
import type { WebhooksResponse, WebhookTestResponse } from '../../../client/src/api-types.ts'
import type { Webhook } from '../../../client/src/webhooks.ts'
import { callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { Button, RowAction } from '../../parts/button.tsx'
import { Badge, Card } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { countOf, formatCount } from '../../parts/text/numbers.ts'
import { AgoOrNever } from '../../parts/time.tsx'
import { useForm } from '../account/form.tsx'
import { Deliveries } from './deliveries.tsx'
import { type Watch, watchText } from './watches.ts'
import { WebhookDialog } from './webhook-dialog.tsx'

type OpenDialog = { kind: 'create' } | { kind: 'remove' | 'deliveries'; webhook: Webhook }

/** `watches`: null until they are loaded. */
export function Webhooks({ watches }: { watches: readonly Watch[] | null }) {
  const { loaded, reload } = useFresh<WebhooksResponse>('/webhooks')
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const close = (): void => setDialog(null)
  return (
    <Card
      title="Webhooks"
      aside={
        <>
          {loaded.body && `${formatCount(loaded.body.webhooks.length)} of ${formatCount(loaded.body.max)}`}
          <Button isSmall onClick={() => setDialog({ kind: 'create' })}>
            <Icon name="plus" /> Add a webhook
          </Button>
        </>
      }
    >
      <LoadedView loaded={loaded} what="your webhooks" onRetry={() => void reload()}>
        {({ webhooks }) => <WebhookRows webhooks={webhooks} watches={watches} reload={reload} onOpen={setDialog} />}
      </LoadedView>
      {dialog?.kind === 'create' && (
        <WebhookDialog watches={watches ?? []} onCreated={() => void reload()} onClose={close} />
      )}
      {dialog?.kind === 'remove' && <RemoveDialog webhook={dialog.webhook} reload={reload} onClose={close} />}
      {dialog?.kind === 'deliveries' && (
        <Deliveries webhook={dialog.webhook} onChanged={() => void reload()} onClose={close} />
      )}
    </Card>
  )
}

type WebhookRowsProps = {
  webhooks: readonly Webhook[]
  watches: readonly Watch[] | null
  reload: () => Promise<void>
  onOpen: (dialog: OpenDialog) => void
}

function WebhookRows({ webhooks, watches, reload, onOpen }: WebhookRowsProps) {
  const { error, isBusy, run } = useForm()
  const [tested, setTested] = useState<string | null>(null)
  if (webhooks.length === 0)
    return <EmptyState title="No webhook">The server can send each event to a URL of yours.</EmptyState>
  const test = ({ id, url }: Webhook): void =>
    void run(async () => {
      setTested(null)
      const result = await callServer<WebhookTestResponse>(`/webhooks/${id}/test`, { method: 'POST', body: {} })
      const text = testText(url, result)
      setTested(text)
      announce(text)
      await reload()
    })
  return (
    <>
      {error !== null && <ErrorBox error={error} />}
      {tested !== null && <p class="note">{tested}</p>}
      <Table
        caption="Webhooks of this account"
        stacks
        keyOf={({ id }) => id}
        rows={webhooks}
        columns={[
          { name: 'URL', cell: WebhookUrl },
          { name: 'Watches', cell: (webhook) => watchesText(webhook, watches) },
          { name: 'Last success', cell: ({ last_success: at }) => <AgoOrNever at={at} /> },
          { name: 'Not delivered', cell: (webhook) => <NotDelivered webhook={webhook} onOpen={onOpen} /> },
          {
            name: 'Actions',
            isHidden: true,
            cell: (webhook) => (
              <span class="row-actions">
                <RowAction text="Test" what={webhook.url} isBusy={isBusy} onAct={() => test(webhook)} />
                <RowAction
                  text="Remove"
                  what={webhook.url}
                  isBusy={isBusy}
                  onAct={() => onOpen({ kind: 'remove', webhook })}
                />
              </span>
            ),
          },
        ]}
      />
    </>
  )
}

function testText(url: string, { delivered, status, error, milliseconds }: WebhookTestResponse): string {
  if (delivered) return `${url} accepted the test with status ${status} after ${formatCount(milliseconds)} ms.`
  return `${url} did not accept the test: ${error ?? `status ${status}`}.`
}

function watchesText({ watches: ids }: Webhook, watches: readonly Watch[] | null): string {
  if (ids === null) return 'all'
  const [first] = ids
  const watch = watches?.find(({ id }) => id === first)
  return ids.length === 1 && watch !== undefined ? watchText(watch) : countOf(ids.length, 'watch', 'watches')
}

const STATES = {
  active: null,
  failing: <Badge tone="warn">failing</Badge>,
  disabled: <Badge tone="bad">disabled</Badge>,
}

function WebhookUrl({ url, state, last_error: error }: Webhook) {
  return (
    <span class="watch-name">
      <span>
        <span class="mono wrap">{url}</span> {STATES[state]}
      </span>
      {state !== 'active' && error !== null && <span class="hint wrap">{error}</span>}
      {state === 'disabled' && <span class="hint">A test that succeeds enables it again.</span>}
    </span>
  )
}

function NotDelivered({ webhook, onOpen }: { webhook: Webhook; onOpen: WebhookRowsProps['onOpen'] }) {
  const count = webhook.waiting + webhook.dead
  if (count === 0) return <>0</>
  const text = `Show ${formatCount(count)}`
  const show = (): void => onOpen({ kind: 'deliveries', webhook })
  return (
    <Button kind="quiet" isSmall label={`${text} not delivered to ${webhook.url}`} onClick={show}>
      {text}
    </Button>
  )
}

type RemoveDialogProps = { webhook: Webhook; reload: () => Promise<void>; onClose: () => void }

function RemoveDialog({ webhook: { id, url }, reload, onClose }: RemoveDialogProps) {
  const { error, isBusy, run } = useForm()
  const remove = (): void =>
    void run(async () => {
      await callServer(`/webhooks/${id}`, { method: 'DELETE' })
      announce('The webhook is removed.')
      await reload()
      onClose()
    })
  return (
    <Dialog title="Remove the webhook?" onClose={onClose}>
      <div class="form">
        {error !== null && <ErrorBox error={error} />}
        <p class="wrap">Nothing more is sent to {url}, also what waits. Its secret is deleted.</p>
        <div class="form-row">
          <Button kind="danger" onClick={remove} isBusy={isBusy}>
            Remove the webhook
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  )
}
