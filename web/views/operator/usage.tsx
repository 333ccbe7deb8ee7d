/** The usage of an account in the last 30 days, for its operator. */

import { useFresh } from '../../client/loaded.ts'
import { Card } from '../../parts/card.tsx'
import { EmptyState, LoadedView } from '../../parts/notice.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { Table } from '../../parts/table.tsx'
import { type OperatedAccount, operatorPath } from './operated-account.ts'

type UsageLine = { day: string; endpoint: string; token: number; token_name: string; calls: number }
type UsageSum = { key: string; token: string; endpoint: string; calls: number }

export function OperatedUsage({ account }: { account: OperatedAccount }) {
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
