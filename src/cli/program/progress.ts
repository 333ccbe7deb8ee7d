/** Shows a progress line on standard error if it is a terminal. The line is overwritten, and cleared at the end. */

const PROGRESS_INTERVAL_MS = 200
const CLEAR_LINE = '\r\x1b[K'

/** `from`: the share that was done before the start. `more`: text at the end of the line. */
type ProgressExtra = { from?: number; more?: string }

/** `show` takes the number of units done and their share of the whole (0 to 1); null for an unknown value. */
export function startProgress(unit: string) {
  const startedAt = performance.now()
  let shownAt = -PROGRESS_INTERVAL_MS
  return {
    show(done: number | null, share: number | null, extra: ProgressExtra = {}): void {
      const now = performance.now()
      if (!process.stderr.isTTY || now - shownAt < PROGRESS_INTERVAL_MS) return
      shownAt = now
      const line = progressLine(unit, done, share, (now - startedAt) / 1000, extra)
      process.stderr.write(CLEAR_LINE + line.slice(0, (process.stderr.columns || Number.POSITIVE_INFINITY) - 1))
    },
    /** Clears the line if there is one. */
    end(): void {
      if (shownAt >= 0) process.stderr.write(CLEAR_LINE)
      shownAt = -PROGRESS_INTERVAL_MS
    },
    seconds: (): number => (performance.now() - startedAt) / 1000,
  }
}

/** Such as `1,234,567 lines  45,678/s  37 %  2:10 left`. */
export function progressLine(
  unit: string,
  done: number | null,
  share: number | null,
  seconds: number,
  { from = 0, more = '' }: ProgressExtra = {},
): string {
  const parts =
    done === null ? [unit] : [`${groupedDigits(done)} ${unit}`, `${groupedDigits(seconds > 0 ? done / seconds : 0)}/s`]
  if (share !== null) parts.push(`${Math.floor(share * 100)} %`)
  if (share !== null && share > from) parts.push(`${durationClock((seconds / (share - from)) * (1 - share))} left`)
  if (more !== '') parts.push(more)
  return parts.join('  ')
}

function groupedDigits(number: number): string {
  return Math.round(number).toLocaleString('en-US')
}

/** `m:ss`, or `h:mm:ss`. */
function durationClock(seconds: number): string {
  const whole = Math.round(seconds)
  const two = (part: number): string => String(part).padStart(2, '0')
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}
