/** The files of one day, and the snapshots, with their download links. */

import type { ComponentChildren } from 'preact'
import { Badge, Card } from '../../../parts/card.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { countOf, formatBytes } from '../../../parts/numbers.ts'
import { Ago } from '../../../parts/time.tsx'
import { type CalendarDay, DAY_STATES, type SnapshotEntry } from './days.ts'

const KINDS = {
  daily: 'Registered domains',
  'followup-7': 'Follow-up after 7 days',
  'followup-30': 'Follow-up after 30 days',
} as const

export function DayFiles({ day }: { day: CalendarDay }) {
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

const FORMATS = { names: 'All known domains', enriched: 'Enriched edition' } as const

export function Snapshots({ snapshots }: { snapshots: readonly SnapshotEntry[] }) {
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
