/** `domaindex account create`: an account with its periods, add-ons and first token, made whole or not at all. */

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
    .description('make an account, and print its first token')
    .argument('<email>', 'the address of the account', parseEmailArgument)
    .addOption(new Option('--plan <plan>', 'the base plan').choices(PLANS).default('free'))
    .option('--period <period>', 'a subscription period; any number of them', collectPeriod, [])
    .option('--addon <addon>', `an add-on (${ADDONS.join(', ')}); any number of them`, collectAddon, [])
    .addOption(new Option('--role <role>', 'the role').choices(ROLES).default('user'))
    .option('--json', 'print one JSON object: the account, and its token')
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
    const given: NewAccount = { email, role, plan, periods, addons }
    return {
      account: await ledger
        .as(actorOf('domaindex account create'))
        .createAccount(given, instant, newTokenRecord(token, 'first', null)),
      now: instant,
    }
  })
  if (account === null) throw new CommandFault(`${email} has an account already`)
  printResult(json, { ...accountObject(account, now), token }, [...accountLines(account, now), ...newTokenLines(token)])
}

/** Throws CommandFault where two of the periods have a day in common. */
function requireNoOverlap(periods: readonly Period[]): void {
  for (const [index, period] of periods.entries()) {
    const other = periods.slice(0, index).find((each) => periodsOverlap(each, period))
    if (other) throw new CommandFault(`${formatPeriod(other)} and ${formatPeriod(period)} overlap`)
  }
}

/** Opens the store that the settings name for the length of `work`; it is made where it is not there. */
async function withNewStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const { store: url, secret, pool } = loadSettings()
  const store = await openStore(url, { access: 'read', ledger: 'own', secret, pool })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
