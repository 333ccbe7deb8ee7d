/** The calendar of the daily files: which days may be downloaded, and why others may not. */

import { useState } from 'preact/hooks'
import { useFresh } from '../../../client/loaded.ts'
import { navigate, pageAddress } from '../../../client/router.ts'
import { useSignal } from '../../../client/signal.ts'
import { Card } from '../../../parts/card.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { LoadedView } from '../../../parts/notice.tsx'
import { formatBytes, formatCount } from '../../../parts/numbers.ts'
import { addMonths, type CalendarDay, DAY_STATES, type FilesBody, monthName, weeksOf, withFutureDays } from './days.ts'
import { DayFiles, Snapshots } from './file-lists.tsx'

export function Calendar() {
  const { query } = useSignal(pageAddress)
  const today = new Date().toISOString().slice(0, 10)
  const month = /^\d{4}-\d\d$/.exec(query.get('month') ?? '')?.[0] ?? today.slice(0, 7)
  const { loaded, reload } = useFresh<FilesBody>(`/app/files?month=${month}`)
  return (
    <div class="stack">
      <Card title="Daily files" aside={<MonthPicker month={month} today={today} />}>
        <LoadedView loaded={loaded} what="the calendar" onRetry={() => void reload()}>
          {(body) => <Month key={month} body={body} month={month} today={today} />}
        </LoadedView>
      </Card>
      {loaded.state === 'done' && <Snapshots snapshots={loaded.body.snapshots} />}
    </div>
  )
}

function MonthPicker({ month, today }: { month: string; today: string }) {
  const show = (other: string): void => navigate(`/account/files?month=${other}`, { replace: true })
  const next = addMonths(month, 1)
  return (
    <span class="month-picker">
      <button type="button" aria-label="Earlier month" onClick={() => show(addMonths(month, -1))}>
        <Icon name="back" />
      </button>
      <span class="month-name" aria-live="polite">
        {monthName(month)}
      </span>
      <button type="button" aria-label="Later month" disabled={next > today.slice(0, 7)} onClick={() => show(next)}>
        <Icon name="forward" />
      </button>
    </span>
  )
}

type MonthProps = { body: FilesBody; month: string; today: string }

function Month({ body, month, today }: MonthProps) {
  const days = withFutureDays(body.days, today)
  const newest = days.findLast(({ state }) => state === 'file') ?? days.find(({ day }) => day === today) ?? days[0]
  const [selected, setSelected] = useState(newest?.day ?? null)
  const shown = days.find(({ day }) => day === selected)
  return (
    <>
      <table class="calendar">
        <caption class="hidden">Daily files of {monthName(month)}</caption>
        <thead>
          <tr>
            {['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month, days).map((week) => (
            <tr key={week.findIndex(Boolean) + String(week.find(Boolean)?.day)}>
              {week.map((day, index) => (
                <td key={index}>
                  {day !== null && <DayButton day={day} selected={selected} onSelect={setSelected} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Legend days={days} />
      {shown !== undefined && <DayFiles day={shown} />}
    </>
  )
}

type DayButtonProps = { day: CalendarDay; selected: string | null; onSelect: (day: string) => void }

function DayButton({ day, selected, onSelect }: DayButtonProps) {
  const daily = day.files.find(({ kind }) => kind === 'daily')
  const size = daily === undefined ? '' : `, ${formatCount(daily.rows)} names, ${formatBytes(daily.bytes)}`
  return (
    <button
      type="button"
      class={`day ${day.state}`}
      aria-pressed={day.day === selected}
      onClick={() => onSelect(day.day)}
    >
      <span class="hidden">{`${day.day}: ${DAY_STATES[day.state].text}${size}`}</span>
      <span class="day-number" aria-hidden="true">
        {Number(day.day.slice(8))}
      </span>
      {daily !== undefined && (
        <span class="day-rows" aria-hidden="true">
          {shortCount(daily.rows)}
        </span>
      )}
    </button>
  )
}

/** `950`, `12k`, `1.2M`: fits into a day. */
function shortCount(count: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(count)
}

/** The states that occur in the month. */
function Legend({ days }: { days: readonly CalendarDay[] }) {
  const states = [...new Set(days.map(({ state }) => state))]
  return (
    <ul class="calendar-legend">
      {states.map((state) => (
        <li key={state}>
          <span class={`day-mark ${state}`} aria-hidden="true" />
          {DAY_STATES[state].text}
        </li>
      ))}
    </ul>
  )
}
