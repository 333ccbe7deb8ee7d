/** The days of a month, and what the state of each means. */

export type FileEntry = {
  name: string
  kind: 'daily' | 'followup-7' | 'followup-30'
  rows: number
  bytes: number
  etag: string
  /** Null if the account may not download it. */
  link: string | null
}

export type DayState = keyof typeof DAY_STATES

export type CalendarDay = { day: string; state: DayState; files: FileEntry[] }

/** Everything is null if the account may not download it, or if it is not built yet. */
export type SnapshotEntry = {
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

export type FilesBody = { days: CalendarDay[]; snapshots: SnapshotEntry[] }

/** `text`: for the legend. `advice`: what it means, and what can be done. */
export const DAY_STATES = {
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

/** The same days; a day without a file that has not ended is `not_yet`. */
export function withFutureDays(days: readonly CalendarDay[], today: string): CalendarDay[] {
  return days.map((each) => (each.state === 'no_file' && each.day >= today ? { ...each, state: 'not_yet' } : each))
}

/** The weeks of a month, Monday first; null where a day belongs to another month. */
export function weeksOf(month: string, days: readonly CalendarDay[]): (CalendarDay | null)[][] {
  const first = (new Date(`${month}-01T00:00:00Z`).getUTCDay() + 6) % 7
  const cells = [...Array.from({ length: first }, () => null), ...days]
  return Array.from({ length: Math.ceil(cells.length / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => cells[7 * week + day] ?? null),
  )
}

export function addMonths(month: string, count: number): string {
  const date = new Date(`${month}-01T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() + count)
  return date.toISOString().slice(0, 7)
}

/** `November 2026`. */
export function monthName(month: string): string {
  return new Date(`${month}-01T00:00:00Z`).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
}
