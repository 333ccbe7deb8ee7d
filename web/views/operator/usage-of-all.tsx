/** /operator/usage: the calls of all accounts in a range of days, and the same as CSV. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { useFresh } from '../../client/loaded.ts'
import { navigate, pageAddress } from '../../client/router.ts'
import { useSignal } from '../../client/signal.ts'
import { Button, LinkButton } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Field } from '../../parts/field.tsx'
import { EmptyState, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { formatCount } from '../../parts/text/numbers.ts'

type UsageLine = { account: number; email: string; endpoint: string; calls: number }
type Days = { from: string; to: string }
type UsageBody = Days & { usage: UsageLine[]; next: string | null }
type AccountSum = { account: number; email: string; calls: number; endpoints: string }

export function UsageOfAllPage() {
  const { query } = useSignal(pageAddress)
  const given = ['from', 'to', 'after'].flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : []))
  const call = new URLSearchParams(given)
  const { loaded, reload } = useFresh<UsageBody>(`/admin/v1/usage?${call}`)
  const range = useRef<Days | null>(null)
  const [from, to] = [query.get('from'), query.get('to')]
  if (loaded.state === 'done') range.current = loaded.body
  else if (from !== null && to !== null) range.current = { from, to }
  const csv = (
    <a href={`/admin/v1/usage.csv?${call}`} download="usage.csv" data-external>
      CSV
    </a>
  )
  return (
    <Card title="Calls by account" aside={csv}>
      {range.current !== null && <Range {...range.current} />}
      <LoadedView loaded={loaded} what="the usage" onRetry={() => void reload()}>
        {(body) => <UsageOfAll body={body} />}
      </LoadedView>
    </Card>
  )
}

function UsageOfAll({ body: { from, to, usage, next } }: { body: UsageBody }) {
  const sums = sumsOf(usage)
  return (
    <>
      {sums.length === 0 ? (
        <EmptyState title="No calls">No account of this page made one in these days.</EmptyState>
      ) : (
        <Table
          caption={`Calls from ${from} to ${to}`}
          stacks
          keyOf={({ account }) => account}
          rows={sums}
          columns={[
            {
              name: 'Account',
              cell: ({ account, email }) => <AccountLink account={account} email={email} />,
            },
            { name: 'Endpoints', cell: ({ endpoints }) => endpoints },
            { name: 'Calls', isNumber: true, cell: ({ calls }) => formatCount(calls) },
          ]}
        />
      )}
      {next !== null && (
        <p class="card-actions">
          <LinkButton href={`/operator/usage?${new URLSearchParams({ from, to, after: next })}`}>
            Further accounts
          </LinkButton>
        </p>
      )}
    </>
  )
}

/** A deleted account has no address, and no page. */
function AccountLink({ account, email }: Pick<AccountSum, 'account' | 'email'>) {
  if (!email.includes('@')) return <span class="wrap">{email}</span>
  return (
    <a class="wrap" href={`/operator/accounts/${account}`}>
      {email}
    </a>
  )
}

/** The days of the address, or those that the server chose. */
function Range({ from, to }: Days) {
  const [days, setDays] = useState({ from, to })
  useEffect(() => setDays({ from, to }), [from, to])
  const submit = (event: Event): void => {
    event.preventDefault()
    navigate(`/operator/usage?${new URLSearchParams(days)}`)
  }
  const field = (name: 'from' | 'to', label: string) => (
    <Field
      label={label}
      name={name}
      value={days[name]}
      onValue={(value) => setDays({ ...days, [name]: value })}
      input={{ type: 'date', required: true }}
    />
  )
  return (
    <form class="operator-row" onSubmit={submit} aria-label="Days">
      {field('from', 'From')}
      {field('to', 'To')}
      <Button type="submit">Show</Button>
    </form>
  )
}

/** One row for each account, in the order of the accounts; its endpoints by calls. */
function sumsOf(usage: readonly UsageLine[]): AccountSum[] {
  return [...Map.groupBy(usage, ({ account }) => account)].map(([account, lines]) => {
    const byEndpoint = new Map<string, number>()
    for (const { endpoint, calls } of lines) byEndpoint.set(endpoint, (byEndpoint.get(endpoint) ?? 0) + calls)
    const endpoints = [...byEndpoint]
      .sort((a, b) => b[1] - a[1])
      .map(([name, calls]) => `${name} ${formatCount(calls)}`)
    const calls = lines.reduce((sum, line) => sum + line.calls, 0)
    return { account, email: lines[0]!.email, calls, endpoints: endpoints.join(', ') }
  })
}
