/** Examines the files that settings name and that a server reads when it starts. */

import { loadPlanLimits } from '../../config/plan-limits.ts'
import { SETTINGS, type Settings } from '../../config/settings.ts'
import { openConfiguredOptOut } from '../crawl/crawl-access.ts'
import { type Finding, off, ok } from './finding.ts'

/** Examines the limits of the plans. Throws SettingsFault if they cannot be read. */
export async function examinePlans(settings: Settings): Promise<Finding[]> {
  if (settings.plans === null) return [off('plans', `${SETTINGS.plans.name} is not set`)]
  loadPlanLimits(settings)
  return [ok('plans', `${settings.plans} can be read`)]
}

/** Examines the opt-out list. Throws CommandFault if it cannot be read. */
export async function examineOptOut(settings: Settings): Promise<Finding[]> {
  if (settings.crawlOptOut === null) return [off('opt-out list', `${SETTINGS.crawlOptOut.name} is not set`)]
  openConfiguredOptOut(settings, () => {}).close()
  return [ok('opt-out list', `${settings.crawlOptOut} can be read`)]
}
