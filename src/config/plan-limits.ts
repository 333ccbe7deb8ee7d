/** Loads the limits of the plans. */

import { readFileSync } from 'node:fs'
import { DEFAULT_PLAN_LIMITS, type PlanLimitTable } from '../accounts/plan.ts'
import { readPlanFile } from '../accounts/plan-file.ts'
import { type Settings, SettingsFault } from './settings.ts'

/** The limits of the specification, with the changes of the file in DOMAINDEX_PLANS. Throws SettingsFault. */
export function loadPlanLimits({ plans }: Pick<Settings, 'plans'>): PlanLimitTable {
  if (plans === null) return DEFAULT_PLAN_LIMITS
  const limitsOrFaults = readPlanFile(readPlanFileText(plans))
  if (!Array.isArray(limitsOrFaults)) return limitsOrFaults as PlanLimitTable
  throw new SettingsFault(limitsOrFaults.map((fault) => `${plans} (DOMAINDEX_PLANS): ${fault}`).join('\n'))
}

function readPlanFileText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { message } = error as Error
    throw new SettingsFault(`${path} (DOMAINDEX_PLANS) cannot be read: ${message}; correct the path, or unset it`)
  }
}
