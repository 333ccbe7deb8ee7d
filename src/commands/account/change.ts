/** `domaindex account plan`, `role`, `period`, `addon` and `delete`. */

import { Argument, type Command } from 'commander'
import { type Account, ADDONS, type Addon, PLANS, type Plan, ROLES, type Role } from '../../accounts/account.ts'
import { formatPeriod, overlap, type Period } from '../../accounts/period.ts'
import type { Ledger } from '../../store/ledger.ts'
import { parseDay } from '../../words/time.ts'
import { CommandFault } from '../fault.ts'
import { withStore } from '../store.ts'
import { accountLines, accountObject, print } from './print.ts'
import { accountOf, readEmail, readPeriod } from './read.ts'

type Options = { json?: true }

export function defineChanges(command: Command): void {
  changing(command.command('plan').description('set the base plan'))
    .addArgument(new Argument('<plan>', 'the base plan').choices(PLANS))
    .action((email: string, plan: Plan, { json }: Options) =>
      change(email, json, (ledger, { id }) => ledger.setPlan(id, plan)),
    )
  changing(command.command('role').description('set the role'))
    .addArgument(new Argument('<role>', 'the role').choices(ROLES))
    .action((email: string, role: Role, { json }: Options) =>
      change(email, json, (ledger, { id }) => ledger.setRole(id, role)),
    )
  definePeriods(command.command('period').description('add and remove subscription periods'))
  defineAddons(command.command('addon').description('add and remove add-ons'))
  changing(command.command('delete').description('delete an account, its tokens and its usage'))
    .option('--yes', 'say that you mean it, which a terminal asks for')
    .action(remove)
}

function definePeriods(command: Command): void {
  changing(command.command('add').description('add a period'))
    .argument('<period>', 'PLAN:FIRST..LAST, or PLAN:FIRST.. for an open one', readPeriod)
    .action((email: string, period: Period, { json }: Options) =>
      change(email, json, (ledger, account) => addPeriod(ledger, account, period)),
    )
  changing(command.command('remove').description('remove a period'))
    .argument('<first>', 'its first day, or the period as it is shown')
    .action((email: string, first: string, { json }: Options) =>
      change(email, json, (ledger, account) => removePeriod(ledger, account, first)),
    )
}

function defineAddons(command: Command): void {
  for (const [name, description, on] of [
    ['add', 'add an add-on', true],
    ['remove', 'remove an add-on', false],
  ] as const) {
    changing(command.command(name).description(description))
      .addArgument(new Argument('<addon>', 'the add-on').choices(ADDONS))
      .action((email: string, addon: Addon, { json }: Options) =>
        change(email, json, (ledger, { id }) => ledger.setAddon(id, addon, on)),
      )
  }
}

const changing = (command: Command): Command =>
  command
    .argument('<email>', 'the address of the account', readEmail)
    .option('--json', 'print one JSON object: the account as it is then')

/** Changes an account and prints it. */
async function change(
  email: string,
  json: true | undefined,
  deed: (ledger: Ledger, account: Account) => Promise<void>,
): Promise<void> {
  const { account, now } = await withStore('read', async ({ ledger, now }) => {
    await deed(ledger, await accountOf(ledger, email))
    return { account: await accountOf(ledger, email), now: await now() }
  })
  print(json, accountObject(account, now), accountLines(account, now))
}

async function addPeriod(ledger: Ledger, { id, email, periods }: Account, period: Period): Promise<void> {
  if (await ledger.addPeriod(id, period)) return
  const other = periods.find((each) => overlap(each, period))
  throw new CommandFault(
    `${formatPeriod(period)} overlaps with ${other ? formatPeriod(other) : 'another period'} of ${email}`,
  )
}

async function removePeriod(ledger: Ledger, { id, email, periods }: Account, text: string): Promise<void> {
  const day = parseDay(text)
  const period = periods.find((each) => each.first === day || formatPeriod(each) === text.trim())
  if (period !== undefined && (await ledger.removePeriod(id, period.first))) return
  const there = periods.map(formatPeriod).join(', ') || 'none'
  throw new CommandFault(`${email} has no period ${text}; it has ${there}`)
}

async function remove(email: string, { yes, json }: Options & { yes?: true }): Promise<void> {
  await withStore('read', async ({ ledger }) => {
    const { id } = await accountOf(ledger, email)
    if (process.stdin.isTTY && !yes)
      throw new CommandFault(`this deletes ${email} with its tokens and usage for good: say so with --yes`)
    await ledger.deleteAccount(id)
  })
  print(json, { deleted: email }, [`deleted ${email}`])
}
