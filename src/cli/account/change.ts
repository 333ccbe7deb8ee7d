/** `domaindex account plan`, `role`, `period`, `addon`, `suspend`, `resume` and `delete`. */

import { Argument, type Command } from 'commander'
import { type Account, ADDONS, type Addon, PLANS, type Plan, ROLES, type Role } from '../../accounts/account.ts'
import { formatPeriod, type Period, periodsOverlap } from '../../accounts/period.ts'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import type { LedgerChanges } from '../../store/port/ledger.ts'
import { actorOf } from '../../store/shared/actor.ts'
import { type Instant, parseDay } from '../../values/time.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { parseEmailArgument, parsePeriodArgument } from './arguments.ts'
import { accountLines, accountObject } from './print.ts'
import { requireAccount } from './read-accounts.ts'

type ChangeOptions = { json?: true }

export function defineChanges(command: Command): void {
  accountCommand(command.command('plan').description('set the base plan'))
    .addArgument(new Argument('<plan>', 'the base plan').choices(PLANS))
    .action((email: string, plan: Plan, { json }: ChangeOptions) =>
      changeAccount('plan', email, json, (changes, { id }) => changes.setPlan(id, plan)),
    )
  accountCommand(command.command('role').description('set the role: admin may open the pages of operators'))
    .addArgument(new Argument('<role>', 'the role').choices(ROLES))
    .action((email: string, role: Role, { json }: ChangeOptions) =>
      changeAccount('role', email, json, (changes, { id }) => changes.setRole(id, role)),
    )
  definePeriods(command.command('period').description('add and remove subscription periods'))
  defineAddons(command.command('addon').description('add and remove add-ons'))
  defineSuspension(command)
  accountCommand(command.command('delete').description('delete an account and its tokens'))
    .option('--erase', 'delete its usage and its audit log too: it can no longer be invoiced')
    .option('--yes', 'confirm the deletion; without it nothing is deleted')
    .action(deleteAccountCommand)
}

function definePeriods(command: Command): void {
  accountCommand(command.command('add').description('add a period'))
    .argument('<period>', 'PLAN:FIRST..LAST, or PLAN:FIRST.. for an open one', parsePeriodArgument)
    .action((email: string, period: Period, { json }: ChangeOptions) =>
      changeAccount('period add', email, json, (changes, account) => addPeriodOrFail(changes, account, period)),
    )
  accountCommand(command.command('remove').description('remove a period'))
    .argument('<first>', 'its first day, or the period as account show prints it')
    .action((email: string, first: string, { json }: ChangeOptions) =>
      changeAccount('period remove', email, json, (changes, account) => removePeriodOrFail(changes, account, first)),
    )
}

function defineAddons(command: Command): void {
  for (const [name, description, on] of [
    ['add', 'add an add-on', true],
    ['remove', 'remove an add-on', false],
  ] as const) {
    accountCommand(command.command(name).description(description))
      .addArgument(new Argument('<addon>', 'the add-on').choices(ADDONS))
      .action((email: string, addon: Addon, { json }: ChangeOptions) =>
        changeAccount(`addon ${name}`, email, json, (changes, { id }) => changes.setAddon(id, addon, on)),
      )
  }
}

function defineSuspension(command: Command): void {
  accountCommand(
    command.command('suspend').description('reject all tokens of an account, within a second, until it is resumed'),
  ).action((email: string, { json }: ChangeOptions) => changeAccount('suspend', email, json, suspendAccountCommand))
  accountCommand(command.command('resume').description('accept the tokens of a suspended account again')).action(
    (email: string, { json }: ChangeOptions) => changeAccount('resume', email, json, resumeAccountCommand),
  )
}

const accountCommand = (command: Command): Command =>
  command
    .argument('<email>', 'the email address of the account', parseEmailArgument)
    .option('--json', 'print one JSON object: the changed account')

/** Changes an account and prints it. `name`: the subcommand, for the audit log. */
async function changeAccount(
  name: string,
  email: string,
  json: true | undefined,
  work: (changes: LedgerChanges, account: Account, now: Instant) => Promise<void>,
): Promise<void> {
  const { account, now } = await withExistingStore('read', async ({ ledger, now: clock }) => {
    const now = await clock()
    await work(ledger.as(actorOf(`domaindex account ${name}`)), await requireAccount(ledger, email), now)
    return { account: await requireAccount(ledger, email), now }
  })
  printResult(json, accountObject(account, now), accountLines(account, now))
}

async function addPeriodOrFail(changes: LedgerChanges, { id, email, periods }: Account, period: Period): Promise<void> {
  if (await changes.addPeriod(id, period)) return
  const other = periods.find((each) => periodsOverlap(each, period))
  throw new CommandFault(
    `${formatPeriod(period)} overlaps with ${other ? formatPeriod(other) : 'another period'} of ${email}`,
  )
}

async function removePeriodOrFail(
  changes: LedgerChanges,
  { id, email, periods }: Account,
  text: string,
): Promise<void> {
  const day = parseDay(text)
  const period = periods.find((each) => each.first === day || formatPeriod(each) === text.trim())
  if (period !== undefined && (await changes.removePeriod(id, period.first))) return
  const existing = periods.map(formatPeriod).join(', ') || 'none'
  throw new CommandFault(`${email} has no period ${text}; it has ${existing}`)
}

async function suspendAccountCommand(changes: LedgerChanges, { id, email }: Account, now: Instant): Promise<void> {
  if (!(await changes.suspendAccount(id, now))) throw new CommandFault(`${email} is already suspended`)
}

async function resumeAccountCommand(changes: LedgerChanges, { id, email }: Account): Promise<void> {
  if (!(await changes.resumeAccount(id))) throw new CommandFault(`${email} is not suspended`)
}

const KEPT = 'its usage and audit log stay under a number without its email address'
const ERASED = 'its usage and audit log are lost, so its calls can no longer be invoiced or explained'

type DeleteOptions = ChangeOptions & { erase?: true; yes?: true }

async function deleteAccountCommand(email: string, { erase, yes, json }: DeleteOptions): Promise<void> {
  if (!yes)
    throw new UsageFault(
      `this permanently deletes ${email} and its tokens; ${erase ? ERASED : KEPT}: add --yes to confirm; nothing is deleted yet`,
    )
  const account = await withExistingStore('read', async ({ ledger }) => {
    const { id } = await requireAccount(ledger, email)
    await ledger.as(actorOf('domaindex account delete')).deleteAccount(id, erase)
    return id
  })
  const outcome = erase ? ERASED : `its usage and audit log stay under account ${account}`
  printResult(json, { deleted: email, account, erased: erase ?? false }, [`deleted ${email}; ${outcome}`])
}
