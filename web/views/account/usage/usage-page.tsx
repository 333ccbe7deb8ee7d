/** /account/usage: the calls of today against the limit, and a chart of the last 30 days. */

import { useState } from 'preact/hooks'
import { useFresh } from '../../../client/loaded.ts'
import { Card } from '../../../parts/card.tsx'
import { Disclosure } from '../../../parts/disclosure.tsx'
import { EmptyState, LoadedView } from '../../../parts/notice.tsx'
import { ProgressBar } from '../../../parts/progress-bar.tsx'
import { Table } from '../../../parts/table.tsx'
import { countOf, formatCount } from '../../../parts/text/numbers.ts'
import { formatAge, formatLocal, formatUtc, parseInstant } from '../../../parts/text/times.ts'

type UsageGrouping = 'endpoints' | 'tokens'

type UsageBody = {
  limit: number | null
  used: number
  remaining: number | null
  reset: string
  days: { day: string; calls: number; endpoints: Record<string, number>; tokens: Record<string, number> }[]
  /** The names of the tokens by ID. */
  tokens: Record<string, string>
}

/** `values`: one for each day. */
type UsageSeries = { name: string; values: number[]; total: number }

/** The ID of calls that the web page made. */
const WEB_PAGE_TOKEN = '0'

/** Further series are summed up, because more colours cannot be told apart. */
const MAX_SERIES = 6

type UsageChartProps = { days: readonly string[]; series: readonly UsageSeries[] }

/** The height of the bars in the units of the drawing. */
const HEIGHT = 160

type DayBarProps = {
  index: number
  series: readonly UsageSeries[]
  top: number
  onShow: (index: number | null) => void
}

type UsageTableProps = UsageChartProps & { totals: readonly number[] }

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

/** A chart of stacked bars, one for each day, with its legend and the same figures as a table. */
function UsageChart({ days, series }: UsageChartProps) {
  const [shown, setShown] = useState<number | null>(null)
  const totals = days.map((_, index) => series.reduce((sum, { values }) => sum + values[index]!, 0))
  const top = niceCeiling(Math.max(1, ...totals))
  const label = `Calls per day from ${days[0]} to ${days.at(-1)}, at most ${Math.max(...totals)} a day`
  return (
    <figure class="chart">
      <div class="chart-plot">
        <div class="chart-scale" aria-hidden="true">
          <span>{formatCount(top)}</span>
          <span>{formatCount(top / 2)}</span>
          <span>0</span>
        </div>
        <svg viewBox={`0 0 ${days.length * 20} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          <path class="chart-lines" d={`M0 .5H9999M0 ${HEIGHT / 2}H9999M0 ${HEIGHT - 0.5}H9999`} />
          {days.map((day, index) => (
            <DayBar key={day} index={index} series={series} top={top} onShow={setShown} />
          ))}
        </svg>
      </div>
      <p class="chart-days" aria-hidden="true">
        <span>{days[0]}</span>
        <span>{days.at(-1)}</span>
      </p>
      <figcaption>
        <Legend series={series} shown={shown} title={shown === null ? 'All days' : days[shown]!} />
        <Disclosure summary="The same as a table">
          {() => <UsageTable days={days} series={series} totals={totals} />}
        </Disclosure>
      </figcaption>
    </figure>
  )
}

function DayBar({ index, series, top, onShow }: DayBarProps) {
  let y = HEIGHT
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the table below has the same figures for everybody
    <g onMouseEnter={() => onShow(index)} onMouseLeave={() => onShow(null)}>
      <rect class="chart-hover" x={index * 20} width="20" height={HEIGHT} />
      {series.map(({ name, values }, place) => {
        const height = (HEIGHT * values[index]!) / top
        y -= height
        return <rect key={name} class={`series-${place}`} x={index * 20 + 3} y={y} width="14" height={height} />
      })}
    </g>
  )
}

/** The names of the series with their calls on the day under the pointer, or on all days. */
function Legend({ series, shown, title }: { series: readonly UsageSeries[]; shown: number | null; title: string }) {
  return (
    <div class="legend">
      <span class="legend-title">{title}</span>
      <ul>
        {series.map(({ name, values, total }, place) => (
          <li key={name}>
            <svg width="10" height="10" aria-hidden="true" focusable="false">
              <rect class={`series-${place}`} width="10" height="10" rx="2" />
            </svg>
            {name} <span class="hint">{countOf(shown === null ? total : values[shown]!, 'call')}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function UsageTable({ days, series, totals }: UsageTableProps) {
  const rows = days.map((day, index) => ({ day, index })).filter(({ index }) => totals[index]! > 0)
  return (
    <Table
      caption="Calls by day"
      keyOf={({ day }) => day}
      rows={rows.toReversed()}
      columns={[
        { name: 'Day', cell: ({ day }) => day },
        ...series.map(({ name, values }) => ({
          name,
          isNumber: true,
          cell: ({ index }: { index: number }) => formatCount(values[index]!),
        })),
        { name: 'All', isNumber: true, cell: ({ index }) => formatCount(totals[index]!) },
      ]}
    />
  )
}

/** The next number of the form 2, 4, 10, 20, 40, 100…, so that half of it is whole. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return [2, 4, 10, 20].map((each) => each * power).find((each) => each >= value) ?? value
}

/** The series with the most calls first. */
function usageSeries({ days, tokens }: UsageBody, grouping: UsageGrouping): UsageSeries[] {
  const keys = [...new Set(days.flatMap((day) => Object.keys(day[grouping])))]
  const nameOf = (key: string): string =>
    grouping === 'endpoints' ? key : key === WEB_PAGE_TOKEN ? 'Web page' : (tokens[key] ?? `Token ${key}`)
  const all = keys
    .map((key) =>
      seriesOf(
        nameOf(key),
        days.map((day) => day[grouping][key] ?? 0),
      ),
    )
    .toSorted((one, other) => other.total - one.total)
  if (all.length <= MAX_SERIES) return all
  const rest = all.slice(MAX_SERIES - 1)
  const summed = days.map((_, index) => rest.reduce((sum, { values }) => sum + values[index]!, 0))
  return [...all.slice(0, MAX_SERIES - 1), seriesOf('Others', summed)]
}

function seriesOf(name: string, values: number[]): UsageSeries {
  return { name, values, total: values.reduce((sum, value) => sum + value, 0) }
}
