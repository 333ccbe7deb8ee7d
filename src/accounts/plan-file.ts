/** Reads the file in which the operator changes the limits of the plans. */

import { isObject } from '../values/json-object.ts'
import { DEFAULT_PLAN_LIMITS, type PlanLimits, type PlanLimitTable } from './plan.ts'

/** The plans whose limits a file may change. */
const CONFIGURABLE_PLANS = ['free', 'basic', 'premium'] as const

type PlanFileKey = { limit: keyof PlanLimits; min: number; max: number; nullMeaning: string | null }

/** The keys of a plan in the file. `nullMeaning`: what the value null means; null if that value is not allowed. */
const PLAN_FILE_KEYS: Readonly<Record<string, PlanFileKey>> = {
  daily_calls: { limit: 'dailyCalls', min: 0, max: 1_000_000_000, nullMeaning: 'no limit' },
  page_rows: { limit: 'pageRows', min: 1, max: 50_000, nullMeaning: null },
  history_states: { limit: 'historyStates', min: 1, max: 1_000, nullMeaning: 'no /dnshistory' },
  watches: { limit: 'watches', min: 0, max: 1_000_000, nullMeaning: null },
  webhooks: { limit: 'webhooks', min: 0, max: 1_000, nullMeaning: null },
  probe_hours: { limit: 'probeHours', min: 1, max: 720, nullMeaning: 'as any other name' },
}

/** Returns the default limits with the changes of the file, or one phrase for each fault of the file. */
export function readPlanFile(text: string): PlanLimitTable | string[] {
  const file = parseJsonOrUndefined(text)
  if (!isObject(file)) return ['must be a JSON object such as {"free": {"daily_calls": 1000}}']
  const faults: string[] = []
  const limits: Record<string, PlanLimits> = { ...DEFAULT_PLAN_LIMITS }
  for (const [plan, changes] of Object.entries(file)) {
    if (!(CONFIGURABLE_PLANS as readonly string[]).includes(plan))
      faults.push(`plan ${JSON.stringify(plan)}: it must be ${CONFIGURABLE_PLANS.join(', ')}`)
    else if (!isObject(changes)) faults.push(`plan "${plan}": its value must be an object of limits`)
    else limits[plan] = { ...limits[plan]!, ...readLimits(plan, changes, faults) }
  }
  return faults.length > 0 ? faults : (limits as PlanLimitTable)
}

function readLimits(plan: string, changes: Record<string, unknown>, faults: string[]): Partial<PlanLimits> {
  const limits: Partial<Record<keyof PlanLimits, number | null>> = {}
  for (const [name, value] of Object.entries(changes)) {
    const key = Object.hasOwn(PLAN_FILE_KEYS, name) ? PLAN_FILE_KEYS[name] : undefined
    if (key === undefined)
      faults.push(`plan "${plan}", key ${JSON.stringify(name)}: it must be ${Object.keys(PLAN_FILE_KEYS).join(', ')}`)
    else if (isAllowedValue(key, value)) limits[key.limit] = value
    else faults.push(`plan "${plan}", key "${name}": ${JSON.stringify(value)} must be ${allowedValueText(key)}`)
  }
  return limits as Partial<PlanLimits>
}

function isAllowedValue({ min, max, nullMeaning }: PlanFileKey, value: unknown): value is number | null {
  if (value === null) return nullMeaning !== null
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
}

function allowedValueText({ min, max, nullMeaning }: PlanFileKey): string {
  return `a whole number from ${min} to ${max}${nullMeaning === null ? '' : `, or null (${nullMeaning})`}`
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
