/** The calendar of the daily files: which days may be downloaded, and why others may not. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useFresh } from '../../../client/loaded.ts'
import { navigate, pageAddress } from '../../../client/router.ts'
import { useSignal } from '../../../client/signal.ts'
import { Badge, Card } from '../../../parts/card.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { LoadedView } from '../../../parts/notice.tsx'
import { countOf, formatBytes, formatCount } from '../../../parts/text/numbers.ts'
import { Ago } from '../../../parts/time.tsx'

const KINDS = {
  daily: 'Registered domains',
  dropped: 'Dropped domains',
  'followup-7': 'Follow-up after 7 days',
  'followup-30': 'Follow-up after 30 days',
} as const

const FORMATS = { names: 'All known domains', enriched: 'Enriched edition' } as const

export type FileEntry = {
  name: string
  kind: 'daily' | 'dropped' | 'followup-7' | 'followup-30'
  rows: number
  bytes: number
  etag: string
  /** Null if the account may not download it. */
  link: string | null
}

export type DayState = keyof typeof DAY_STATES

type CalendarDay = { day: string; state: DayState; files: FileEntry[] }

/** Everything is null if the account may not download it, or if it is not built yet. */
type SnapshotEntry = {
  name: string | null
  format: 'names' | 'enriched'
  rows: number | null
  bytes: number | null
  generated: string | null
  allowed: boolean
  /** The add-on that it needs. */
  needs: string
  link: string | null
}

type FilesBody = { days: CalendarDay[]; snapshots: SnapshotEntry[] }

/** `text`: for the legend. `advice`: what it means, and what can be done. */
const DAY_STATES = {
  file: { text: 'File to download', advice: 'The domains that were registered on this day.' },
  no_file: {
    text: 'No file',
    advice: 'Your subscription includes this day, but there is no file for it.',
  },
  not_yet: {
    text: 'Not written yet',
    advice: 'The file of a day is written in the following night.',
  },
  before_subscription: {
    text: 'Before your subscription',
    advice: 'Your first subscription period starts later. Its first file is that of the day before it starts.',
  },
  after_subscription: {
    text: 'After your subscription',
    advice:
      'Your subscription has ended. Its last file is that of the day before its last day. Renew it for later days.',
  },
  outside_subscription: {
    text: 'Between two periods',
    advice: 'This day is in the gap between two of your subscription periods.',
  },
  no_subscription: {
    text: 'No subscription',
    advice: 'Your account has no subscription period yet. Ask the operator to add one.',
  },
  plan_required: {
    text: 'Needs Basic or Premium',
    advice: 'Daily files are part of the plans Basic and Premium. Ask the operator to change your plan.',
  },
} as const

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
      <button class="icon-button" type="button" aria-label="Earlier month" onClick={() => show(addMonths(month, -1))}>
        <Icon name="back" />
      </button>
      <span class="month-name" aria-live="polite">
        {monthName(month)}
      </span>
      <button
        class="icon-button"
        type="button"
        aria-label="Later month"
        disabled={next > today.slice(0, 7)}
        onClick={() => show(next)}
      >
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

/** The same days; a day without a file that has not ended is `not_yet`. */
function withFutureDays(days: readonly CalendarDay[], today: string): CalendarDay[] {
  return days.map((each) => (each.state === 'no_file' && each.day >= today ? { ...each, state: 'not_yet' } : each))
}

/** The weeks of a month, Monday first; null where a day belongs to another month. */
function weeksOf(month: string, days: readonly CalendarDay[]): (CalendarDay | null)[][] {
  const first = (new Date(`${month}-01T00:00:00Z`).getUTCDay() + 6) % 7
  const cells = [...Array.from({ length: first }, () => null), ...days]
  return Array.from({ length: Math.ceil(cells.length / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => cells[7 * week + day] ?? null),
  )
}

function addMonths(month: string, count: number): string {
  const date = new Date(`${month}-01T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() + count)
  return date.toISOString().slice(0, 7)
}

/** `November 2026`. */
function monthName(month: string): string {
  return new Date(`${month}-01T00:00:00Z`).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
}

/** The files of one day, and the snapshots, with their download links. */
function DayFiles({ day }: { day: CalendarDay }) {
  const { text, advice } = DAY_STATES[day.state]
  return (
    <section class="day-files" aria-labelledby="day-title" aria-live="polite">
      <h3 id="day-title">
        {day.day} <span class="hint">{text}</span>
      </h3>
      <p class="hint">{advice}</p>
      {day.files.length > 0 && (
        <ul class="file-list">
          {day.files.map(({ name, kind, rows, bytes, link }) => (
            <li key={name}>
              <FileText title={KINDS[kind]} details={`${countOf(rows, 'name')}, ${formatBytes(bytes)}`} />
              {link === null ? <Badge>needs Premium</Badge> : <DownloadLink name={name} link={link} />}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function FileText({ title, details }: { title: string; details: ComponentChildren }) {
  return (
    <span class="file-text">
      <span>{title}</span>
      <span class="hint">{details}</span>
    </span>
  )
}

function DownloadLink({ name, link }: { name: string; link: string }) {
  return (
    <a class="button small" href={link} download={name} data-external>
      <Icon name="download" />
      <span class="hidden">Download </span>
      <span class="file-name">{name}</span>
    </a>
  )
}

function Snapshots({ snapshots }: { snapshots: readonly SnapshotEntry[] }) {
  return (
    <Card title="Snapshots">
      <ul class="file-list">
        {snapshots.map((snapshot) => (
          <li key={snapshot.format}>
            <FileText title={FORMATS[snapshot.format]} details={<SnapshotDetails snapshot={snapshot} />} />
            {snapshot.link !== null && <DownloadLink name={snapshot.name ?? ''} link={snapshot.link} />}
            {!snapshot.allowed && <Badge>needs the add-on {snapshot.needs}</Badge>}
          </li>
        ))}
      </ul>
    </Card>
  )
}

function SnapshotDetails({ snapshot: { allowed, rows, bytes, generated } }: { snapshot: SnapshotEntry }) {
  if (rows === null || bytes === null || generated === null)
    return <>{allowed ? 'Not built yet: the nightly job builds it.' : 'One file with every name on record.'}</>
  return (
    <>
      {countOf(rows, 'domain')}, {formatBytes(bytes)}, built <Ago at={generated} />
    </>
  )
}
