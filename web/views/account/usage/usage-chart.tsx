/** A chart of stacked bars, one for each day, with its legend and the same figures as a table. */

import { useState } from 'preact/hooks'
import { Disclosure } from '../../../parts/disclosure.tsx'
import { countOf, formatCount } from '../../../parts/numbers.ts'
import { Table } from '../../../parts/table.tsx'
import type { UsageSeries } from './series.ts'

type UsageChartProps = { days: readonly string[]; series: readonly UsageSeries[] }

/** The height of the bars in the units of the drawing. */
const HEIGHT = 160

export function UsageChart({ days, series }: UsageChartProps) {
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

type DayBarProps = {
  index: number
  series: readonly UsageSeries[]
  top: number
  onShow: (index: number | null) => void
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

type UsageTableProps = UsageChartProps & { totals: readonly number[] }

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
