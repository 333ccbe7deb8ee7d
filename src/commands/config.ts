/** `domaindex config`: prints the settings in force. */

import { styleText } from 'node:util'
import type { Command } from 'commander'
import { loadSettings, SETTINGS, type Settings } from '../config.ts'

export function define(command: Command): void {
  command
    .option('--json', 'print one JSON object, by the names of the variables')
    .action(({ json }: { json?: true }) => {
      const shown = show(loadSettings())
      console.log(json ? JSON.stringify(shown, null, 2) : table(shown))
    })
}

/** Every setting's name with its value as text; a secret only as set or unset. */
function show(settings: Settings): Record<string, string> {
  const entries = (Object.keys(SETTINGS) as (keyof Settings)[]).map((key) => {
    const { name, isSecret } = SETTINGS[key]
    return [name, isSecret ? (settings[key] === null ? 'unset' : 'set') : process.env[name] || SETTINGS[key].fallback]
  })
  return Object.fromEntries(entries)
}

function table(shown: Record<string, string>): string {
  const width = Math.max(...Object.keys(shown).map((name) => name.length))
  return Object.values(SETTINGS)
    .map(({ name, meaning }) => `${name.padEnd(width)}  ${shown[name]}\n${styleText('dim', `  ${meaning}`)}`)
    .join('\n')
}
