/** The periods and add-ons of an account, for its operator. */

import { useState } from 'preact/hooks'
import { callServer } from '../../client/http.ts'
import { Button, RowAction } from '../../parts/button.tsx'
import { Badge, Card } from '../../parts/card.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { useForm } from '../account/form.tsx'
import { type AccountCardProps, type OperatedPeriod, operatorPath } from './operated-account.ts'

export function PeriodsCard({ account, reload }: AccountCardProps) {
  const { error, isBusy, run } = useForm()
  const remove = ({ first }: OperatedPeriod): void =>
    void run(async () => {
      await callServer(`${operatorPath(account)}/periods/${first}`, { method: 'DELETE' })
      announce('Removed.')
      await reload()
    })
  return (
    <Card title="Periods">
      {error !== null && <ErrorBox error={error} />}
      <PeriodTable periods={account.periods} isBusy={isBusy} onRemove={remove} />
      <NewPeriod account={account} reload={reload} />
    </Card>
  )
}

type PeriodTableProps = { periods: OperatedPeriod[]; isBusy: boolean; onRemove: (period: OperatedPeriod) => void }

function PeriodTable({ periods, isBusy, onRemove }: PeriodTableProps) {
  if (periods.length === 0)
    return <EmptyState title="No period">The base plan holds on every day, and daily files need a period.</EmptyState>
  return (
    <Table
      caption="Subscription periods"
      stacks
      keyOf={({ first }) => first}
      rows={periods}
      columns={[
        { name: 'First day', cell: ({ first }) => first },
        { name: 'Last day', cell: ({ last }) => last ?? <span class="hint">open</span> },
        { name: 'Plan', cell: ({ plan }) => plan },
        {
          name: 'Action',
          isHidden: true,
          cell: (period) => (
            <RowAction
              text="Remove"
              what={`the period from ${period.first}`}
              isBusy={isBusy}
              onAct={() => onRemove(period)}
            />
          ),
        },
      ]}
    />
  )
}

const PERIOD_PLANS = [
  ['basic', 'Basic'],
  ['premium', 'Premium'],
] as const

function NewPeriod({ account, reload }: AccountCardProps) {
  const [plan, setPlan] = useState('basic')
  const [first, setFirst] = useState('')
  const [last, setLast] = useState('')
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    const body = { plan, first, last: last === '' ? null : last }
    await callServer(`${operatorPath(account)}/periods`, { method: 'POST', body })
    announce('Added.')
    setFirst('')
    setLast('')
    await reload()
  })
  return (
    <form onSubmit={submit}>
      {error !== null && <ErrorBox error={error} />}
      <div class="operator-row">
        <Select label="Plan" value={plan} onValue={setPlan} options={PERIOD_PLANS} />
        <Field
          label="First day"
          name="first"
          value={first}
          onValue={setFirst}
          input={{ type: 'date', required: true }}
        />
        <Field label="Last day, or none" name="last" value={last} onValue={setLast} input={{ type: 'date' }} />
        <Button type="submit" isBusy={isBusy}>
          Add the period
        </Button>
      </div>
    </form>
  )
}

const ADDONS = [
  ['export', 'Snapshots of all names'],
  ['enriched', 'Snapshots with facts'],
] as const

export function AddonsCard({ account, reload }: AccountCardProps) {
  const { error, isBusy, run } = useForm()
  const set = (addon: string, isOn: boolean): void =>
    void run(async () => {
      await callServer(`${operatorPath(account)}/addons/${addon}`, { method: isOn ? 'PUT' : 'DELETE' })
      announce(isOn ? 'Added.' : 'Removed.')
      await reload()
    })
  return (
    <Card title="Add-ons">
      {error !== null && <ErrorBox error={error} />}
      <Table
        caption="Add-ons"
        keyOf={([addon]) => addon}
        rows={ADDONS}
        columns={[
          { name: 'Add-on', cell: ([addon]) => addon },
          { name: 'Opens', cell: ([, text]) => text },
          {
            name: 'State',
            cell: ([addon]) => <AddonState isOn={account.addons.includes(addon)} />,
          },
          {
            name: 'Action',
            isHidden: true,
            cell: ([addon]) => (
              <AddonAction addon={addon} isOn={account.addons.includes(addon)} isBusy={isBusy} onSet={set} />
            ),
          },
        ]}
      />
    </Card>
  )
}

function AddonState({ isOn }: { isOn: boolean }) {
  return isOn ? <Badge tone="good">on</Badge> : <span class="hint">off</span>
}

type AddonActionProps = { addon: string; isOn: boolean; isBusy: boolean; onSet: (addon: string, isOn: boolean) => void }

function AddonAction({ addon, isOn, isBusy, onSet }: AddonActionProps) {
  const text = isOn ? 'Remove' : 'Add'
  return <RowAction text={text} what={addon} isBusy={isBusy} onAct={() => onSet(addon, !isOn)} />
}
