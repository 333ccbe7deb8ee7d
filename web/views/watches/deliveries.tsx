/** The events that a webhook did not accept, and the buttons that send them again. */

import type { DeliveriesResponse } from '../../../client/src/api-types.ts'
import type { Delivery, Webhook } from '../../../client/src/webhooks.ts'
import { callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { Button, RowAction } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { countOf } from '../../parts/text/numbers.ts'
import { parseInstant } from '../../parts/text/times.ts'
import { Ago } from '../../parts/time.tsx'
import { useForm } from '../account/form.tsx'

type DeliveriesProps = { webhook: Webhook; onChanged: () => void; onClose: () => void }

export function Deliveries({ webhook: { id, url }, onChanged, onClose }: DeliveriesProps) {
  const { loaded, reload } = useFresh<DeliveriesResponse>(`/webhooks/${id}/deliveries`)
  const { error, isBusy, run } = useForm()
  /** `event` null: all that are not tried again. */
  const send = (event: number | null): void =>
    void run(async () => {
      const body = event === null ? {} : { event }
      const path = `/webhooks/${id}/redeliver`
      const { redelivered } = await callServer<{ redelivered: number }>(path, { method: 'POST', body })
      announce(`${countOf(redelivered, 'event')} will be sent again.`)
      await reload()
      onChanged()
    })
  return (
    <Dialog title="Not delivered" onClose={onClose}>
      <div class="form">
        <p class="mono wrap">{url}</p>
        {error !== null && <ErrorBox error={error} />}
        <LoadedView loaded={loaded} what="deliveries" onRetry={() => void reload()}>
          {({ deliveries }) => (
            <>
              <DeliveryRows deliveries={deliveries} isBusy={isBusy} onSend={send} />
              <div class="form-row">
                {deliveries.some(({ state }) => state === 'dead') && (
                  <Button isBusy={isBusy} onClick={() => send(null)}>
                    Send all dead ones again
                  </Button>
                )}
                <Button kind="primary" onClick={onClose}>
                  Close
                </Button>
              </div>
            </>
          )}
        </LoadedView>
      </div>
    </Dialog>
  )
}

type DeliveryRowsProps = { deliveries: readonly Delivery[]; isBusy: boolean; onSend: (event: number) => void }

function DeliveryRows({ deliveries, isBusy, onSend }: DeliveryRowsProps) {
  if (deliveries.length === 0) return <EmptyState title="All events are delivered" />
  return (
    <Table
      caption="Events that are not delivered"
      stacks
      isDense
      keyOf={({ event }) => event}
      rows={deliveries}
      columns={[
        { name: 'Message', cell: ({ event }) => <span class="mono">evt_{event}</span> },
        { name: 'Event', cell: ({ time }) => <Ago at={time} /> },
        { name: 'Error', cell: ({ error }) => <span class="wrap">{error}</span> },
        { name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
        { name: 'Next attempt', cell: NextAttempt },
        {
          name: 'Action',
          isHidden: true,
          cell: ({ event, state }) =>
            state === 'dead' && (
              <RowAction text="Send again" what={`the event ${event}`} isBusy={isBusy} onAct={() => onSend(event)} />
            ),
        },
      ]}
    />
  )
}

function NextAttempt({ state, next_attempt: at }: Delivery) {
  if (state === 'dead') return <span class="hint">dead</span>
  if (at === null) return <span class="hint">none</span>
  return parseInstant(at).getTime() <= Date.now() ? <>now</> : <Ago at={at} />
}
