/** The daily files that the quality check holds, and their release. */

import { callServer } from '../../client/http.ts'
import { Button } from '../../parts/button.tsx'
import { Badge, Card } from '../../parts/card.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox } from '../../parts/notice.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { Table } from '../../parts/table.tsx'
import { useForm } from '../account/form.ts'

export type Held = { date: string; rows: number; reason: string; release_requested: boolean }

type HeldCardProps = { held: readonly Held[]; reload: () => Promise<void> }

export function HeldCard({ held, reload }: HeldCardProps) {
  return (
    <Card title="Held days">
      {held.length === 0 ? (
        <EmptyState title="No day is held">Every daily file that was built is published.</EmptyState>
      ) : (
        <>
          <p class="hint">
            Check where the names of such a day come from. If they are correct, release it: the jobs publish its file
            within a minute.
          </p>
          <Table
            caption="Daily files that are held"
            stacks
            keyOf={({ date }) => date}
            rows={held}
            columns={[
              { name: 'Day', cell: ({ date }) => date },
              { name: 'Names', isNumber: true, cell: ({ rows }) => formatCount(rows) },
              { name: 'Reason', cell: ({ reason }) => reason },
              { name: 'Publish it', cell: (day) => <Release day={day} reload={reload} /> },
            ]}
          />
        </>
      )}
    </Card>
  )
}

function Release({
  day: { date, release_requested: isRequested },
  reload,
}: {
  day: Held
  reload: HeldCardProps['reload']
}) {
  const { error, isBusy, run } = useForm()
  if (isRequested) return <Badge tone="accent">released, being built</Badge>
  const release = (): void =>
    void run(async () => {
      await callServer('/admin/v1/releases', { method: 'POST', body: { date } })
      announce(`${date} is released.`)
      await reload()
    })
  return (
    <>
      {error !== null && <ErrorBox error={error} />}
      <Button isBusy={isBusy} onClick={release}>
        Release <span class="hidden">{date}</span>
      </Button>
    </>
  )
}
