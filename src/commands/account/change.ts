/** `domaindex account plan`, `role`, `period`, `addon`, `suspend`, `resume` and `delete`. */

import { Argument, type Command } from 'commander'
import { type Account, ADDONS, type Addon, PLANS, type Plan, ROLES, type Role } from '../../accounts/account.ts'
import { formatPeriod, overlap, type Period } from '../../accounts/period.ts'
import { actorOf } from '../../store/actor.ts'
import type { Changes } from '../../store/ledger.ts'
import { type Instant, parseDay } from '../../words/time.ts'
import { CommandFault, UsageFault } from '../fault.ts'
import { print } from '../result.ts'
import { withStore } from '../store.ts'
import { accountLines, accountObject } from './print.ts'
import { accountOf, readEmail, readPeriod } from './read.ts'

type Options = { json?: true }

export function defineChanges(command: Command): void {
  changing(command.command('plan').description('set the base plan'))
    .addArgument(new Argument('<plan>', 'the base plan').choices(PLANS))
    .action((email: string, plan: Plan, { json }: Options) =>
      change('plan', email, json, (changes, { id }) => changes.setPlan(id, plan)),
    )
  changing(command.command('role').description('set the role'))
    .addArgument(new Argument('<role>', 'the role').choices(ROLES))
    .action((email: string, role: Role, { json }: Options) =>
      change('role', email, json, (changes, { id }) => changes.setRole(id, role)),
    )
  definePeriods(command.command('period').description('add and remove subscription periods'))
  defineAddons(command.command('addon').description('add and remove add-ons'))
  defineSuspension(command)
  changing(command.command('delete').description('delete an account, its tokens and its usage'))
    .option('--yes', 'confirm it; without it nothing is deleted')
    .action(remove)
}

function definePeriods(command: Command): void {
  changing(command.command('add').description('add a period'))
    .argument('<period>', 'PLAN:FIRST..LAST, or PLAN:FIRST.. for an open one', readPeriod)
    .action((email: string, period: Period, { json }: Options) =>
      change('period add', email, json, (changes, account) => addPeriod(changes, account, period)),
    )
  changing(command.command('remove').description('remove a period'))
    .argument('<first>', 'its first day, or the period as it is shown')
    .action((email: string, first: string, { json }: Options) =>
      change('period remove', email, json, (changes, account) => removePeriod(changes, account, first)),
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
        change(`addon ${name}`, email, json, (changes, { id }) => changes.setAddon(id, addon, on)),
      )
  }
}

function defineSuspension(command: Command): void {
  changing(
    command.command('suspend').description('refuse all tokens of an account within a second, until it is resumed'),
  ).action((email: string, { json }: Options) => change('suspend', email, json, suspend))
  changing(command.command('resume').description('let a suspended account in again')).action(
    (email: string, { json }: Options) => change('resume', email, json, resume),
  )
}

const changing = (command: Command): Command =>
  command
    .argument('<email>', 'the address of the account', readEmail)
    .option('--json', 'print one JSON object: the account as it is then')

/** Changes an account by the subcommand `name`, and prints it. */
async function change(
  name: string,
  email: string,
  json: true | undefined,
  deed: (changes: Changes, account: Account, now: Instant) => Promise<void>,
): Promise<void> {
  const { account, now } = await withStore('read', async ({ ledger, now: clock }) => {
    const now = await clock()
    await deed(ledger.as(actorOf(`domaindex account ${name}`)), await accountOf(ledger, email), now)
    return { account: await accountOf(ledger, email), now }
  })
  print(json, accountObject(account, now), accountLines(account, now))
}

async function addPeriod(changes: Changes, { id, email, periods }: Account, period: Period): Promise<void> {
  if (await changes.addPeriod(id, period)) return
  const other = periods.find((each) => overlap(each, period))
  throw new CommandFault(
    `${formatPeriod(period)} overlaps with ${other ? formatPeriod(other) : 'another period'} of ${email}`,
  )
}

async function removePeriod(changes: Changes, { id, email, periods }: Account, text: string): Promise<void> {
  const day = parseDay(text)
  const period = periods.find((each) => each.first === day || formatPeriod(each) === text.trim())
  if (period !== undefined && (await changes.removePeriod(id, period.first))) return
  const there = periods.map(formatPeriod).join(', ') || 'none'
  throw new CommandFault(`${email} has no period ${text}; it has ${there}`)
}

async function suspend(changes: Changes, { id, email }: Account, now: Instant): Promise<void> {
  if (!(await changes.suspendAccount(id, now))) throw new CommandFault(`${email} is suspended already`)
}

async function resume(changes: Changes, { id, email }: Account): Promise<void> {
  if (!(await changes.resumeAccount(id))) throw new CommandFault(`${email} is not suspended`)
}

async function remove(email: string, { yes, json }: Options & { yes?: true }): Promise<void> {
  if (!yes)
    throw new UsageFault(`this deletes ${email} with its tokens and usage for good, and nothing is done yet: add --yes`)
  await withStore('read', async ({ ledger }) => {
    const { id } = await accountOf(ledger, email)
    await ledger.as(actorOf('domaindex account delete')).deleteAccount(id)
  })
  print(json, { deleted: email }, [`deleted ${email}`])
}
