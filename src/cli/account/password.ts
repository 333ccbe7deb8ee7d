/** `domaindex account password` and `account link`: how the owner of an account signs in on the web page. */

import type { Command } from 'commander'
import { MIN_PASSWORD_LENGTH, passwordProblem } from '../../accounts/password.ts'
import { PasswordHasher } from '../../api/auth/password-hasher.ts'
import { createSignInLink, SIGN_IN_LINK_SECONDS } from '../../api/auth/sign-in-link.ts'
import { CommandFault } from '../../config/command-fault.ts'
import { publicAddress } from '../../config/web.ts'
import { actorOf } from '../../store/shared/actor.ts'
import { loadExistingStoreSettings, withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { readSecret } from '../program/read-secret.ts'
import { parseEmailArgument } from './arguments.ts'
import { requireAccount } from './read-accounts.ts'

type PasswordOptions = { json?: true }

const PASSWORD_HELP = `
The command asks for the password, which has at least ${MIN_PASSWORD_LENGTH} characters, or reads it from standard
input. All sessions of the account end.`

const LINK_HELP = `
The link signs in once, within ${SIGN_IN_LINK_SECONDS / 60} minutes. Send it only to the owner of the account.`

export function definePassword(command: Command): void {
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
