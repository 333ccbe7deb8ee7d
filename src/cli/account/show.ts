/** `domaindex account list` and `domaindex account show`. */

import type { Command } from 'commander'
import type { Account } from '../../accounts/account.ts'
import { planInForce } from '../../accounts/plan.ts'
import { loadPlanLimits } from '../../config/plan-limits.ts'
import { loadSettings } from '../../config/settings.ts'
import type { Ledger } from '../../store/port/ledger.ts'
import { type Day, dayOf } from '../../values/time.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { parseEmailArgument } from './arguments.ts'
import { accountLines, accountObject, alignedColumns, tokenLines, tokenObject } from './print.ts'
import { allAccounts, requireAccount } from './read-accounts.ts'

type ShowOptions = { json?: true }

export function defineShow(command: Command): void {
  command
    .command('list')
    .description('list all accounts by email address')
    .option('--json', 'print one JSON object: accounts')
    .action(listAccounts)
  command
    .command('show')
    .description("show an account, its tokens and today's usage")
    .argument('<email>', 'the email address of the account', parseEmailArgument)
    .option('--json', 'print one JSON object: the account, its tokens, limit and used')
    .action(showAccount)
}

async function listAccounts({ json }: ShowOptions): Promise<void> {
  const { accounts, now } = await withExistingStore('read', async ({ ledger, now }) => {
    return { accounts: await allAccounts(ledger), now: await now() }
  })
  const today = dayOf(now)
  const rows = accounts.map((account) => [
    account.email,
    account.suspended === null ? planInForce(account, today) : 'suspended',
    account.role,
    account.addons.join(', ') || '-',
  ])
  const lines = rows.length > 0 ? alignedColumns([['EMAIL', 'PLAN', 'ROLE', 'ADD-ONS'], ...rows]) : ['no accounts']
  printResult(json, { accounts: accounts.map((account) => accountObject(account, now)) }, lines)
}

/** Counts the calls of a day of an account without a limit: only its usage records them. */
async function callsWithoutLimit(ledger: Ledger, { id }: Account, day: Day): Promise<number> {
  return (await ledger.usage(id, day, day)).reduce((sum, { calls }) => sum + calls, 0)
}

async function showAccount(email: string, { json }: ShowOptions): Promise<void> {
  await withExistingStore('read', async ({ ledger, now: clock }) => {
    const account = await requireAccount(ledger, email)
    const now = await clock()
    const today = dayOf(now)
    const limit = loadPlanLimits(loadSettings())[planInForce(account, today)].dailyCalls
    const used =
      limit === null ? await callsWithoutLimit(ledger, account, today) : await ledger.usedUnits(account.id, today)
    const tokens = await ledger.tokens(account.id)
    const object = {
      ...accountObject(account, now),
      limit,
      used,
      tokens: tokens.map((token) => tokenObject(token, now)),
    }
    printResult(json, object, [
      ...accountLines(account, now),
      `  today    ${used} of ${limit ?? 'unlimited'} calls`,
      '',
      ...tokenLines(tokens, now),
    ])
  })
}
