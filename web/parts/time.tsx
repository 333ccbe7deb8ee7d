/** Instants and days with their exact time as a tooltip. */

import { formatAge, formatDay, formatUtc, parseInstant } from './text/times.ts'

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
