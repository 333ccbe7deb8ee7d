/** `domaindex account create`: creates an account with its periods, add-ons and first token in one transaction. */

import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import { ADDONS, type Addon, type NewAccount, PLANS, type Plan, ROLES, type Role } from '../../accounts/account.ts'
import { formatPeriod, type Period, periodsOverlap } from '../../accounts/period.ts'
import { makeToken, newTokenRecord, TOKEN_BYTES } from '../../accounts/token.ts'
import { CommandFault } from '../../config/command-fault.ts'
import { loadSettings } from '../../config/settings.ts'
import { openStore } from '../../store/open.ts'
import type { Store } from '../../store/port/store.ts'
import { actorOf } from '../../store/shared/actor.ts'
import { printResult } from '../program/print-result.ts'
import { parseAddonArgument, parseEmailArgument, parsePeriodArgument } from './arguments.ts'
import { accountLines, accountObject, newTokenLines } from './print.ts'

type CreateOptions = { plan: Plan; period: Period[]; addon: Addon[]; role: Role; json?: true }

export function defineCreate(command: Command): void {
  command
    .command('create')
    .description('create an account and print its first token')
    .argument('<email>', 'the email address of the account', parseEmailArgument)
    .addOption(new Option('--plan <plan>', 'the base plan').choices(PLANS).default('free'))
    .addOption(
      new Option('--period <period>', 'a subscription period, PLAN:FIRST..LAST; may be repeated')
        .argParser(collectPeriod)
        .default([], 'none'),
    )
    .addOption(
      new Option('--addon <addon>', 'an add-on; may be repeated')
        .choices(ADDONS)
        .argParser(collectAddon)
        .default([], 'none'),
    )
    .addOption(
      new Option('--role <role>', 'the role; admin may open the pages of operators').choices(ROLES).default('user'),
    )
    .option('--json', 'print one JSON object: the account and its token')
    .action(createAccountCommand)
}

const collectPeriod = (text: string, before: Period[]): Period[] => [...before, parsePeriodArgument(text)]

const collectAddon = (text: string, before: Addon[]): Addon[] => [...before, parseAddonArgument(text)]

async function createAccountCommand(
  email: string,
  { plan, period: periods, addon: addons, role, json }: CreateOptions,
): Promise<void> {
  requireNoOverlap(periods)
  const token = makeToken(randomBytes(TOKEN_BYTES))
  const { account, now } = await withNewStore(async ({ ledger, now }) => {
    const instant = await now()
    const newAccount: NewAccount = { email, role, plan, periods, addons }
    return {
      account: await ledger
        .as(actorOf('domaindex account create'))
        .createAccount(newAccount, instant, newTokenRecord(token, 'first', null)),
      now: instant,
    }
  })
  if (account === null) throw new CommandFault(`${email} already has an account`)
  printResult(json, { ...accountObject(account, now), token }, [...accountLines(account, now), ...newTokenLines(token)])
}

/** Throws CommandFault if two of the periods overlap. */
function requireNoOverlap(periods: readonly Period[]): void {
  for (const [index, period] of periods.entries()) {
    const other = periods.slice(0, index).find((each) => periodsOverlap(each, period))
    if (other) throw new CommandFault(`${formatPeriod(other)} and ${formatPeriod(period)} overlap`)
  }
}

/** Opens the configured store while `work` runs. Creates the store if it does not exist. */
async function withNewStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const { store: location, secret, pool } = loadSettings()
  const store = await openStore(location, { access: 'read', ledger: 'own', secret, pool })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
