/** /operator/accounts/ID: one account with its plan, periods, add-ons, tokens and usage. */

import { useState } from 'preact/hooks'
import { callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { navigate } from '../../client/router.ts'
import { Button } from '../../parts/button.tsx'
import { Card, Facts } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { formatCount } from '../../parts/text/numbers.ts'
import { Day } from '../../parts/time.tsx'
import { useForm } from '../account/form.tsx'
import { AccountState } from './accounts.tsx'
import {
  type AccountCardProps,
  type OperatedAccount,
  operatorPath,
  PLAN_OPTIONS,
  ROLE_OPTIONS,
} from './operated-account.ts'
import { AddonsCard, PeriodsCard } from './subscription.tsx'
import { OperatedTokens } from './tokens.tsx'

type UsageLine = { day: string; endpoint: string; token: number; token_name: string; calls: number }
type UsageSum = { key: string; token: string; endpoint: string; calls: number }

export function OperatedAccountPage({ id }: { id: string }) {
  const { loaded, reload } = useFresh<OperatedAccount>(operatorPath({ id }))
  return (
    <LoadedView loaded={loaded} what="the account" onRetry={() => void reload()}>
      {(account) => (
        <div class="stack">
          <PlanCard account={account} reload={reload} />
          <PeriodsCard account={account} reload={reload} />
          <AddonsCard account={account} reload={reload} />
          <OperatedTokens account={account} />
          <OperatedUsage account={account} />
        </div>
      )}
    </LoadedView>
  )
}

function PlanCard({ account, reload }: AccountCardProps) {
  const { error, isBusy, run } = useForm()
  const [isDeleting, setIsDeleting] = useState(false)
  const change = (body: object): void =>
    void run(async () => {
      await callServer(operatorPath(account), { method: 'PATCH', body })
      announce('Changed.')
      await reload()
    })
  const isSuspended = account.suspended !== null
  return (
    <Card title={account.email} aside={<AccountState account={account} />}>
      {error !== null && <ErrorBox error={error} />}
      <Facts
        rows={[
          ['Plan today', account.plan_in_force],
          ['Created', <Day key="created" at={account.created} />],
          ...(account.suspended === null
            ? []
            : [['Suspended', <Day key="suspended" at={account.suspended} />] as const]),
        ]}
      />
      <div class="operator-row">
        <Select label="Base plan" value={account.plan} onValue={(plan) => change({ plan })} options={PLAN_OPTIONS} />
        <Select label="Role" value={account.role} onValue={(role) => change({ role })} options={ROLE_OPTIONS} />
        <Button isBusy={isBusy} onClick={() => change({ suspended: !isSuspended })}>
          {isSuspended ? 'Resume' : 'Suspend'}
        </Button>
        <Button kind="danger" onClick={() => setIsDeleting(true)}>
          Delete
        </Button>
      </div>
      {account.plan_in_force !== account.plan && <HigherPlanHint plan={account.plan_in_force} />}
      {isDeleting && <DeleteDialog account={account} onClose={() => setIsDeleting(false)} />}
    </Card>
  )
}

function HigherPlanHint({ plan }: { plan: string }) {
  return <p class="hint">A subscription period gives the plan {plan} today, which is higher than the base plan.</p>
}

function DeleteDialog({ account, onClose }: { account: OperatedAccount; onClose: () => void }) {
  const [email, setEmail] = useState('')
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    await callServer(`${operatorPath(account)}?confirm=${encodeURIComponent(email)}`, { method: 'DELETE' })
    announce(`${account.email} is deleted.`)
    navigate('/operator')
  })
  return (
    <Dialog title={`Delete ${account.email}?`} onClose={onClose}>
      <form class="form" onSubmit={submit}>
        {error !== null && <ErrorBox error={error} />}
        <p>
          Its tokens, watches and webhooks are deleted too. Its usage and its entries of the audit log stay under its
          number {account.id}, without its email address: keep the number if you still have to invoice it. This cannot
          be undone.
        </p>
        <Field
          label="Type the email address to confirm"
          name="confirm"
          value={email}
          onValue={setEmail}
          input={{ required: true, autoComplete: 'off' }}
        />
        <div class="form-row">
          <Button kind="danger" type="submit" isBusy={isBusy} disabled={email.trim().toLowerCase() !== account.email}>
            Delete the account
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The usage of an account in the last 30 days, for its operator. */
function OperatedUsage({ account }: { account: OperatedAccount }) {
  const path = `${operatorPath(account)}/usage`
  const { loaded, reload } = useFresh<{ usage: UsageLine[] }>(path)
  return (
    <Card
      title="Usage of the last 30 days"
      aside={
        <a href={`${path}.csv`} download="usage.csv" data-external>
          CSV
        </a>
      }
    >
      <LoadedView loaded={loaded} what="the usage" onRetry={() => void reload()}>
        {({ usage }) => <UsageTable sums={sumsOf(usage)} />}
      </LoadedView>
    </Card>
  )
}

function sumsOf(usage: readonly UsageLine[]): UsageSum[] {
  const sums = new Map<string, UsageSum>()
  for (const { endpoint, token, token_name: name, calls } of usage) {
    const key = `${token} ${endpoint}`
    const sum = sums.get(key) ?? { key, token: name, endpoint, calls: 0 }
    sums.set(key, { ...sum, calls: sum.calls + calls })
  }
  return [...sums.values()].sort((a, b) => b.calls - a.calls)
}

function UsageTable({ sums }: { sums: readonly UsageSum[] }) {
  if (sums.length === 0) return <EmptyState title="No calls">The account made none in the last 30 days.</EmptyState>
  return (
    <Table
      caption="Calls by token and endpoint"
      keyOf={({ key }) => key}
      rows={sums}
      columns={[
        { name: 'Token', cell: ({ token }) => token },
        { name: 'Endpoint', cell: ({ endpoint }) => endpoint },
        { name: 'Calls', isNumber: true, cell: ({ calls }) => formatCount(calls) },
      ]}
    />
  )
}
