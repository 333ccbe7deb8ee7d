/** A finding of the doctor: one thing that it has examined, whether that is in order, and what to do otherwise. */

/**
 * `off`: it is not in use, or cannot be examined here. `warning`: it works, but the operator should know. `fault`: it
 * does not work.
 */
export type FindingState = 'ok' | 'off' | 'warning' | 'fault'

/** `advice`: what to do; null if nothing. */
export type Finding = { subject: string; state: FindingState; message: string; advice: string | null }

export const ok = (subject: string, message: string): Finding => ({ subject, state: 'ok', message, advice: null })
export const off = (subject: string, message: string): Finding => ({ subject, state: 'off', message, advice: null })

export function warning(subject: string, message: string, advice: string): Finding {
  return { subject, state: 'warning', message, advice }
}

export function fault(subject: string, message: string, advice: string): Finding {
  return { subject, state: 'fault', message, advice }
}

/** Such as `45 seconds`, `12 minutes`, `3 hours` or `9 days`. */
export function durationText(seconds: number): string {
  const [unit, name] = (
    [
      [86_400, 'day'],
      [3_600, 'hour'],
      [60, 'minute'],
    ] as const
  ).find(([each]) => seconds >= 2 * each) ?? [1, 'second']
  const count = Math.floor(seconds / unit)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
