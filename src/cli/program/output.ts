/** The output of a command: its result, a line of progress, safe text; and the signals that stop it. */

import { listenForStopSignals, type StopSignal } from '../../server/stop-signals.ts'

/**
 * C0, DEL and C1 (Unicode category Cc), format characters such as bidirectional overrides and zero-width ones (Cf), and
 * line and paragraph separators (Zl, Zp).
 */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

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

/** Prints the result of a command: as lines of text, or as one JSON object with --json. */
export function printResult(json: boolean | undefined, object: object, lines: readonly string[]): void {
  if (json) console.log(JSON.stringify(object))
  else if (lines.length > 0) console.log(lines.join('\n'))
}

/** Aligns rows of cells in columns. The first row has the headings. */
export function alignedColumns(rows: readonly string[][]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}

/** Such as `\u{1b}[31m`. */
export function terminalText(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** JSON in which these characters are escapes, so that it is the same value and safe everywhere. */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE_CHARACTERS, (character) => character.split('').map(escapedUnit).join(''))
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Writes a line of a command on standard error. */
export function reportLine(text: string): void {
  process.stderr.write(`domaindex: ${terminalText(text)}\n`)
}

/** Starts listening. `end` stops listening and, if a signal arrived, ends the process with it as the sender expects. */
export function listenForStop() {
  const controller = new AbortController()
  let received: StopSignal | null = null
  const ignore = listenForStopSignals((name) => {
    received = name
    controller.abort()
  })
  return {
    signal: controller.signal,
    end(): void {
      ignore()
      if (received !== null) process.kill(process.pid, received)
    },
  }
}
