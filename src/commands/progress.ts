/** A line of progress on standard error, where that is a terminal: written over again, and gone at the end. */

const MILLISECONDS = 200
const CLEAR = '\r\x1b[K'

/** `from`: the share that was done before this began. `more`: words at the end of the line. */
type Extra = { from?: number; more?: string }

/** `show` takes how many of the unit were done, and what share of the whole that is (0 to 1); null for what is not known. */
export function progressOf(unit: string) {
  const begun = performance.now()
  let shown = -MILLISECONDS
  return {
    show(done: number | null, share: number | null, extra: Extra = {}): void {
      const now = performance.now()
      if (!process.stderr.isTTY || now - shown < MILLISECONDS) return
      shown = now
      const line = progressLine(unit, done, share, (now - begun) / 1000, extra)
      process.stderr.write(CLEAR + line.slice(0, (process.stderr.columns || Number.POSITIVE_INFINITY) - 1))
    },
    /** Clears the line, where there is one. */
    end(): void {
      if (shown >= 0) process.stderr.write(CLEAR)
      shown = -MILLISECONDS
    },
    seconds: (): number => (performance.now() - begun) / 1000,
  }
}

/** As in `1,234,567 lines  45,678/s  37 %  2:10 left`. */
export function progressLine(
  unit: string,
  done: number | null,
  share: number | null,
  seconds: number,
  { from = 0, more = '' }: Extra = {},
): string {
  const words = done === null ? [unit] : [`${grouped(done)} ${unit}`, `${grouped(seconds > 0 ? done / seconds : 0)}/s`]
  if (share !== null) words.push(`${Math.floor(share * 100)} %`)
  if (share !== null && share > from) words.push(`${clock((seconds / (share - from)) * (1 - share))} left`)
  if (more !== '') words.push(more)
  return words.join('  ')
}

function grouped(number: number): string {
  return Math.round(number).toLocaleString('en-US')
}

/** `m:ss`, or `h:mm:ss`. */
function clock(seconds: number): string {
  const whole = Math.round(seconds)
  const two = (part: number): string => String(part).padStart(2, '0')
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}
