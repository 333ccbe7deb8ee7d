/** What `domaindex doctor` last found on each machine. */

import { Badge, Card } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { formatUtc, parseInstant } from '../../parts/text/times.ts'

type Finding = { subject: string; state: 'ok' | 'off' | 'warning' | 'fault'; message: string; advice: string | null }
export type DoctorReport = { machine: string; at: string; findings: Finding[] }

export function DoctorCards({ reports }: { reports: readonly DoctorReport[] }) {
  if (reports.length === 0)
    return (
      <Card title="Doctor">
        <EmptyState title="No machine is examined">
          A server that runs jobs examines its machine every hour. domaindex doctor does it at once.
        </EmptyState>
      </Card>
    )
  return (
    <>
      {reports.map((report) => (
        <ReportCard key={report.machine} report={report} />
      ))}
    </>
  )
}

/** Shows what needs attention; the number of the others stands below. */
function ReportCard({ report: { machine, at, findings } }: { report: DoctorReport }) {
  const shown = findings.filter(({ state }) => state === 'fault' || state === 'warning')
  const good = findings.filter(({ state }) => state === 'ok').length
  return (
    <Card title={`Doctor of ${machine}`} aside={formatUtc(parseInstant(at))}>
      {shown.length > 0 && (
        <Table
          caption="What needs attention"
          stacks
          keyOf={({ subject, message }) => `${subject} ${message}`}
          rows={shown}
          columns={[
            { name: 'State', cell: ({ state }) => <StateBadge state={state} /> },
            { name: 'Finding', cell: ({ subject, message }) => <span class="wrap">{`${subject}: ${message}`}</span> },
            { name: 'What to do', cell: ({ advice }) => <span class="wrap">{advice}</span> },
          ]}
        />
      )}
      <p class="hint">
        {good} {good === 1 ? 'part is' : 'parts are'} in order.
      </p>
    </Card>
  )
}

function StateBadge({ state }: Pick<Finding, 'state'>) {
  return state === 'fault' ? <Badge tone="bad">fault</Badge> : <Badge tone="warn">warning</Badge>
}
