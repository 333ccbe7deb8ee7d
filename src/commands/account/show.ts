/** `domaindex account list` and `show`. */

import type { Command } from 'commander'
import type { Account } from '../../accounts/account.ts'
import { planInForce } from '../../accounts/plan.ts'
import { loadSettings } from '../../config.ts'
import type { Ledger } from '../../store/ledger.ts'
import { type Day, dayOf } from '../../words/time.ts'
import { limitsOf } from '../plans.ts'
import { print } from '../result.ts'
import { withStore } from '../store.ts'
import { accountLines, accountObject, columns, tokenLines, tokenObject } from './print.ts'
import { accountOf, allAccounts, readEmail } from './read.ts'

type Options = { json?: true }

export function defineShow(command: Command): void {
  command
    .command('list')
    .description('list all accounts by address')
    .option('--json', 'print one JSON object: accounts')
    .action(list)
  command
    .command('show')
    .description('show an account, its tokens and what it used today')
    .argument('<email>', 'the address of the account', readEmail)
    .option('--json', 'print one JSON object: the account, its tokens, limit and used')
    .action(show)
}

async function list({ json }: Options): Promise<void> {
  const { accounts, now } = await withStore('read', async ({ ledger, now }) => {
    return { accounts: await allAccounts(ledger), now: await now() }
  })
  const today = dayOf(now)
  const rows = accounts.map((account) => [
    account.email,
    account.suspended === null ? planInForce(account, today) : 'suspended',
    account.role,
    account.addons.join(', ') || '-',
  ])
  const lines = rows.length > 0 ? columns([['EMAIL', 'PLAN', 'ROLE', 'ADD-ONS'], ...rows]) : ['no accounts']
  print(json, { accounts: accounts.map((account) => accountObject(account, now)) }, lines)
}

/** Calls of a day by an account that has no limit, which nothing but its usage counts. */
async function noted(ledger: Ledger, { id }: Account, day: Day): Promise<number> {
  return (await ledger.usage(id, day, day)).reduce((sum, { calls }) => sum + calls, 0)
}

async function show(email: string, { json }: Options): Promise<void> {
  await withStore('read', async ({ ledger, now: clock }) => {
    const account = await accountOf(ledger, email)
    const now = await clock()
    const today = dayOf(now)
    const limit = limitsOf(loadSettings())[planInForce(account, today)].queries
    const used = limit === null ? await noted(ledger, account, today) : await ledger.used(account.id, today)
    const tokens = await ledger.tokens(account.id)
    const object = {
      ...accountObject(account, now),
      limit,
      used,
      tokens: tokens.map((token) => tokenObject(token, now)),
    }
    print(json, object, [
      ...accountLines(account, now),
      `  today    ${used} of ${limit ?? 'unlimited'} calls`,
      '',
      ...tokenLines(tokens, now),
    ])
  })
}
