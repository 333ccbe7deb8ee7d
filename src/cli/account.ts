/** `domaindex account`: creates, shows and changes accounts and their tokens. */

import type { Command } from 'commander'
import { defineLog } from './account/audit-log.ts'
import { defineChanges } from './account/change.ts'
import { defineCreate } from './account/create.ts'
import { definePassword } from './account/password.ts'
import { defineShow } from './account/show.ts'
import { defineTokens } from './account/token.ts'
import { defineUsage } from './account/usage.ts'

const ACCOUNT_HELP = `
EMAIL names the account; letter case does not matter. Days are YYYY-MM-DD in UTC, and a period
includes its last day:
  basic:2026-01-01..2026-03-31    three months of Basic
  premium:2026-04-01..            Premium from a day on, without an end
The plan in force is the higher of the base plan and the plan of the current period. With --json,
each command prints one JSON object. A running server applies every change within a second.`

export function defineAccount(command: Command): void {
  command.addHelpText('after', ACCOUNT_HELP)
  defineCreate(command)
  defineShow(command)
  defineChanges(command)
  definePassword(command)
  defineTokens(command)
  defineUsage(command)
  defineLog(command)
}
