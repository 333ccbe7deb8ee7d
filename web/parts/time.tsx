/** Instants and days as text: how long ago, in UTC and in local time. */

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

/** The instant of a text of the server; one without a zone is in UTC. */
export function parseInstant(text: string): Date {
  return new Date(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
}

/** `3 hours ago`, `in 2 days`; less than a minute is `just now`. */
export function formatAge(instant: Date, now: number = Date.now()): string {
  const seconds = (instant.getTime() - now) / 1_000
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? [null, 0]
  return unit === null ? 'just now' : relative.format(Math.trunc(seconds / length), unit)
}

/** `2026-11-23 01:02 UTC`. */
export function formatUtc(instant: Date): string {
  return `${instant.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** The day of an instant in UTC, `2026-11-23`. */
export function formatDay(instant: Date): string {
  return instant.toISOString().slice(0, 10)
}

/** The hour and minute in the zone of the browser, with the day if it is another one than today. */
export function formatLocal(instant: Date): string {
  const isToday = instant.toDateString() === new Date().toDateString()
  return instant.toLocaleString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    ...(!isToday && { day: 'numeric', month: 'short' }),
  })
}

/** How long ago an instant was; the exact one is the tooltip. */
export function Ago({ at }: { at: string }) {
  const instant = parseInstant(at)
  return (
    <time dateTime={instant.toISOString()} title={formatUtc(instant)}>
      {formatAge(instant)}
    </time>
  )
}

/** The same, or `never`. */
export function AgoOrNever({ at }: { at: string | null }) {
  return at === null ? <span class="hint">never</span> : <Ago at={at} />
}

/** The day of an instant, with its time in UTC if that is asked for; the exact one is the tooltip. */
export function Day({ at, withTime = false }: { at: string; withTime?: boolean }) {
  const instant = parseInstant(at)
  return (
    <time dateTime={instant.toISOString()} title={formatUtc(instant)}>
      {withTime ? formatUtc(instant) : formatDay(instant)}
    </time>
  )
}
