/** /account/files: what the plan includes, and the files that the account may download. */

import { useFresh } from '../../../client/loaded.ts'
import { Badge, Card, Facts } from '../../../parts/card.tsx'
import { EmptyState, LoadedView } from '../../../parts/notice.tsx'
import { formatCount } from '../../../parts/text/numbers.ts'
import { Calendar } from './calendar.tsx'

type PlanBody = {
  plan: string
  base_plan: string
  limits: { daily_calls: number | null; page_rows: number | null; history_states: number | null }
  periods: { plan: string; first: string; last: string | null }[]
  addons: string[]
  endpoints: { name: string; allowed: boolean; needs: string | null }[]
}

export function FilesPage() {
  const { loaded, reload } = useFresh<PlanBody>('/app/plan')
  return (
    <div class="overview files">
      <Calendar />
      <LoadedView loaded={loaded} what="your plan" onRetry={() => void reload()}>
        {(plan) => <Plan plan={plan} />}
      </LoadedView>
    </div>
  )
}

function Plan({ plan }: { plan: PlanBody }) {
  const { limits, addons } = plan
  const count = (value: number | null, none: string): string => (value === null ? none : formatCount(value))
  return (
    <div class="stack">
      <Card title="Plan" aside={<Badge tone="accent">{plan.plan}</Badge>}>
        <Facts
          rows={[
            ['Calls per day', count(limits.daily_calls, 'no limit')],
            ['Rows per page', count(limits.page_rows, 'no limit')],
            ['DNS states per type', count(limits.history_states, 'not included')],
            ['Add-ons', addons.length === 0 ? 'none' : addons.join(', ')],
          ]}
        />
      </Card>
      <Card title="Subscription periods">
        <Periods plan={plan} />
      </Card>
      <Card title="Endpoints">
        <ul class="endpoints">
          {plan.endpoints.map(({ name, allowed, needs }) => (
            <li key={name}>
              <a href={`/docs#${name}`}>/{name}</a>
              {allowed ? <Badge tone="good">included</Badge> : <Badge>needs {needs ?? 'another plan'}</Badge>}
            </li>
          ))}
        </ul>
      </Card>
    </div>
  )
}

function Periods({ plan: { periods, base_plan: basePlan } }: { plan: PlanBody }) {
  if (periods.length === 0)
    return (
      <EmptyState title="None">
        The plan {basePlan} applies every day. Daily files need a period: the operator adds one.
      </EmptyState>
    )
  return (
    <ul class="periods">
      {periods.map(({ plan, first, last }) => (
        <li key={first}>
          <Badge tone="accent">{plan}</Badge> {first} to {last ?? 'further notice'}
        </li>
      ))}
    </ul>
  )
}
