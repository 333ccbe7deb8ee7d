/** The file of the operator that changes the limits of the plans. */

import { LIMITS, type Limits, type PlanLimits } from './plan.ts'

/** The plans whose limits a file may change. */
const CHANGEABLE = ['free', 'basic', 'premium'] as const

type Key = { limit: keyof PlanLimits; least: number; most: number; orNull: string | null }

/** The keys of a plan in the file. `orNull`: what null means; null if it is not allowed. */
const KEYS: Readonly<Record<string, Key>> = {
  daily_calls: { limit: 'queries', least: 0, most: 1_000_000_000, orNull: 'no limit' },
  page_rows: { limit: 'rows', least: 1, most: 50_000, orNull: null },
  history_states: { limit: 'states', least: 1, most: 1_000, orNull: 'no /dnshistory' },
}

/** The limits in force with a file of this text, or what is wrong with it: one phrase each. What the file does not name stays. */
export function readPlanFile(text: string): Limits | string[] {
  const file = parse(text)
  if (!isObject(file)) return ['must be a JSON object such as {"free": {"daily_calls": 1000}}']
  const faults: string[] = []
  const limits: Record<string, PlanLimits> = { ...LIMITS }
  for (const [plan, changes] of Object.entries(file)) {
    if (!(CHANGEABLE as readonly string[]).includes(plan))
      faults.push(`plan ${JSON.stringify(plan)}: it must be ${CHANGEABLE.join(', ')}`)
    else if (!isObject(changes)) faults.push(`plan "${plan}": its value must be an object of limits`)
    else limits[plan] = { ...limits[plan]!, ...readLimits(plan, changes, faults) }
  }
  return faults.length > 0 ? faults : (limits as Limits)
}

function readLimits(plan: string, changes: Record<string, unknown>, faults: string[]): Partial<PlanLimits> {
  const limits: Partial<Record<keyof PlanLimits, number | null>> = {}
  for (const [name, value] of Object.entries(changes)) {
    const key = Object.hasOwn(KEYS, name) ? KEYS[name] : undefined
    if (key === undefined)
      faults.push(`plan "${plan}", key ${JSON.stringify(name)}: it must be ${Object.keys(KEYS).join(', ')}`)
    else if (fits(key, value)) limits[key.limit] = value
    else faults.push(`plan "${plan}", key "${name}": ${JSON.stringify(value)} must be ${wordsFor(key)}`)
  }
  return limits as Partial<PlanLimits>
}

function fits({ least, most, orNull }: Key, value: unknown): value is number | null {
  if (value === null) return orNull !== null
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

function wordsFor({ least, most, orNull }: Key): string {
  return `a whole number from ${least} to ${most}${orNull === null ? '' : `, or null (${orNull})`}`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
