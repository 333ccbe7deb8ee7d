/** `domaindex config`: prints the current settings. */

import { styleText } from 'node:util'
import type { Command } from 'commander'
import { loadPlanLimits } from '../config/plan-limits.ts'
import { displayText, loadSettings, SETTINGS } from '../config/settings.ts'

export function defineConfig(command: Command): void {
  command.option('--json', 'print one JSON object: the value of each variable').action(({ json }: { json?: true }) => {
    loadPlanLimits(loadSettings()) // throws if a plan is invalid
    const settings = shownSettings()
    console.log(json ? JSON.stringify(settings, null, 2) : settingsTable(settings))
  })
}

/** Returns the displayed text of each setting by name, with secrets redacted. */
function shownSettings(): Record<string, string> {
  const settings = Object.values(SETTINGS)
  return Object.fromEntries(
    settings.map((setting) => [setting.name, displayText(setting, process.env[setting.name] || setting.defaultText)]),
  )
}

function settingsTable(settings: Record<string, string>): string {
  const width = Math.max(...Object.keys(settings).map((name) => name.length))
  return Object.values(SETTINGS)
    .map(({ name, meaning }) => `${name.padEnd(width)}  ${settings[name]}\n${styleText('dim', `  ${meaning}`)}`)
    .join('\n')
}
