/** /account/usage: the calls of today against the limit, and a chart of the last 30 days. */

import { useState } from 'preact/hooks'
import { useFresh } from '../../../client/loaded.ts'
import { Card } from '../../../parts/card.tsx'
import { EmptyState, LoadedView } from '../../../parts/notice.tsx'
import { countOf, formatCount } from '../../../parts/numbers.ts'
import { ProgressBar } from '../../../parts/progress-bar.tsx'
import { formatAge, formatLocal, formatUtc, parseInstant } from '../../../parts/time.tsx'
import { type UsageBody, type UsageGrouping, usageSeries } from './series.ts'
import { UsageChart } from './usage-chart.tsx'

export function UsagePage() {
  const { loaded, reload } = useFresh<UsageBody>('/app/usage')
  return (
    <LoadedView loaded={loaded} what="your usage" onRetry={() => void reload()}>
      {(usage) => (
        <div class="stack">
          <Today usage={usage} />
          <Days usage={usage} />
        </div>
      )}
    </LoadedView>
  )
}

function Today({ usage: { limit, used, remaining, reset } }: { usage: UsageBody }) {
  const instant = parseInstant(reset)
  return (
    <Card title="Today">
      <p class="big-number">
        {formatCount(used)}{' '}
        <span class="hint">{limit === null ? 'calls, without a limit' : `of ${countOf(limit, 'call')}`}</span>
      </p>
      {limit !== null && <ProgressBar value={used} max={limit} label={`${used} of ${limit} calls are used`} />}
      <p class="hint usage-reset">
        {remaining !== null && <>{formatCount(remaining)} left. </>}
        The count starts again {formatAge(instant)}, at {formatUtc(instant)} ({formatLocal(instant)} your time).
      </p>
    </Card>
  )
}

const GROUPINGS = [
  ['endpoints', 'By endpoint'],
  ['tokens', 'By token'],
] as const

function Days({ usage }: { usage: UsageBody }) {
  const [grouping, setGrouping] = useState<UsageGrouping>('endpoints')
  const series = usageSeries(usage, grouping)
  const total = usage.days.reduce((sum, { calls }) => sum + calls, 0)
  return (
    <Card
      title="The last 30 days"
      aside={
        <a href="/app/usage.csv" download="usage.csv" data-external>
          CSV
        </a>
      }
    >
      {total === 0 ? (
        <EmptyState title="No calls yet">
          Each call that is answered appears here within a second. <a href="/account/tokens">Create a token</a> to
          start.
        </EmptyState>
      ) : (
        <>
          <fieldset class="segments">
            <legend class="hidden">Group the calls</legend>
            {GROUPINGS.map(([key, text]) => (
              <button key={key} type="button" aria-pressed={grouping === key} onClick={() => setGrouping(key)}>
                {text}
              </button>
            ))}
          </fieldset>
          <UsageChart days={usage.days.map(({ day }) => day)} series={series} />
        </>
      )}
    </Card>
  )
}
