/** `domaindex account`: creates accounts, and changes their plans, roles, periods, add-ons and passwords. */

import { randomBytes } from 'node:crypto'
import { Argument, type Command, Option } from 'commander'
import {
  type Account,
  ADDONS,
  type Addon,
  type NewAccount,
  PLANS,
  type Plan,
  ROLES,
  type Role,
} from '../../accounts/account.ts'
import { MIN_PASSWORD_LENGTH, passwordProblem } from '../../accounts/password.ts'
import { formatPeriod, type Period, periodsOverlap } from '../../accounts/period.ts'
import { makeToken, newTokenRecord, TOKEN_BYTES } from '../../accounts/token.ts'
import { PasswordHasher } from '../../api/auth/password-hasher.ts'
import { createSignInLink, SIGN_IN_LINK_SECONDS } from '../../api/auth/sign-in-link.ts'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import { loadSettings } from '../../config/settings.ts'
import { publicAddress } from '../../config/web.ts'
import { removeEventsOfDeletedAccounts } from '../../store/deleted-accounts.ts'
import type { LedgerChanges } from '../../store/port/ledger.ts'
import { actorOf } from '../../store/shared/actor.ts'
import { type Instant, parseDay } from '../../values/time.ts'
import { readSecret } from '../program/arguments.ts'
import { loadExistingStoreSettings, withExistingStore, withStore } from '../program/existing-store.ts'
import { printResult } from '../program/output.ts'
import { defineExportAccount } from './export.ts'
import {
  accountLines,
  accountObject,
  newTokenLines,
  parseAddonArgument,
  parseEmailArgument,
  parsePeriodArgument,
} from './print.ts'
import { defineLog, defineShow, defineUsage, requireAccount } from './reports.ts'
import { defineTokens } from './tokens.ts'

type PasswordOptions = { json?: true }

const PASSWORD_HELP = `
The command asks for the password, which has at least ${MIN_PASSWORD_LENGTH} characters, or reads it from standard
input. All sessions of the account end.`

const LINK_HELP = `
The link signs in once, within ${SIGN_IN_LINK_SECONDS / 60} minutes. Send it only to the owner of the account.`

type CreateOptions = { plan: Plan; period: Period[]; addon: Addon[]; role: Role; json?: true }

const collectPeriod = (text: string, before: Period[]): Period[] => [...before, parsePeriodArgument(text)]

const collectAddon = (text: string, before: Addon[]): Addon[] => [...before, parseAddonArgument(text)]

const ACCOUNT_HELP = `
EMAIL names the account; letter case does not matter. Days are YYYY-MM-DD in UTC, and a period
includes its last day:
  basic:2026-01-01..2026-03-31    three months of Basic
  premium:2026-04-01..            Premium from a day on, without an end
The plan in force is the higher of the base plan and the plan of the current period. With --json,
each command prints one JSON object. A running server applies every change within a second.`

type ChangeOptions = { json?: true }

function defineChanges(command: Command): void {
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
  const account = await withExistingStore('write', async (store) => {
    const { id } = await requireAccount(store.ledger, email)
    await store.ledger.as(actorOf('domaindex account delete')).deleteAccount(id, erase)
    await removeEventsOfDeletedAccounts(store)
    return id
  })
  const outcome = erase ? ERASED : `its usage and audit log stay under account ${account}`
  printResult(json, { deleted: email, account, erased: erase ?? false }, [`deleted ${email}; ${outcome}`])
}

/** `domaindex account`: creates, shows and changes accounts and their tokens. */
export function defineAccount(command: Command): void {
  command.addHelpText('after', ACCOUNT_HELP)
  defineCreate(command)
  defineShow(command)
  defineChanges(command)
  definePassword(command)
  defineTokens(command)
  defineUsage(command)
  defineLog(command)
  defineExportAccount(command)
}

/** `domaindex account create`: creates an account with its periods, add-ons and first token in one transaction. */
function defineCreate(command: Command): void {
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

async function createAccountCommand(
  email: string,
  { plan, period: periods, addon: addons, role, json }: CreateOptions,
): Promise<void> {
  requireNoOverlap(periods)
  const token = makeToken(randomBytes(TOKEN_BYTES))
  const { account, now } = await withStore(loadSettings(), 'read', async ({ ledger, now }) => {
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

/** `domaindex account password` and `account link`: how the owner of an account signs in on the web page. */
function definePassword(command: Command): void {
  command
    .command('password')
    .description('set the password with which the owner signs in on the web page')
    .argument('<email>', 'the email address of the account', parseEmailArgument)
    .option('--json', 'print one JSON object: the email address')
    .addHelpText('after', PASSWORD_HELP)
    .action(setPasswordCommand)
  command
    .command('link')
    .description('print a link that signs in on the web page once')
    .argument('<email>', 'the email address of the account', parseEmailArgument)
    .option('--json', 'print one JSON object: the email address and the link')
    .addHelpText('after', LINK_HELP)
    .action(createLinkCommand)
}

async function setPasswordCommand(email: string, { json }: PasswordOptions): Promise<void> {
  await withExistingStore('read', async ({ ledger, now: clock }) => {
    const { id } = await requireAccount(ledger, email)
    const password = await readSecret('Password')
    const problem = passwordProblem(password, email)
    if (problem !== null) throw new CommandFault(problem)
    const hash = await new PasswordHasher().hash(password)
    await ledger.as(actorOf('domaindex account password')).setPassword(id, hash, null, await clock())
    printResult(json, { email }, [`the password of ${email} is set, and its sessions have ended`])
  })
}

async function createLinkCommand(email: string, { json }: PasswordOptions): Promise<void> {
  const address = publicAddress(await loadExistingStoreSettings())
  await withExistingStore('read', async ({ ledger, now: clock }) => {
    const { id, suspended } = await requireAccount(ledger, email)
    if (suspended !== null) throw new CommandFault(`${email} is suspended: run domaindex account resume ${email} first`)
    const link = await createSignInLink(ledger, id, address, await clock())
    printResult(json, { email, link }, [link])
  })
}
