/** `domaindex account token`: makes, lists and revokes the tokens of an account. */

import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { isActive, makeToken, newTokenRecord, parseToken, TOKEN_BYTES, type Token } from '../../accounts/token.ts'
import { CommandFault } from '../../config/command-fault.ts'
import { actorOf } from '../../store/shared/actor.ts'
import type { Instant } from '../../values/time.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { parseEmailArgument, parseInstantArgument, parseTokenNameArgument, requireAccount } from './arguments.ts'
import { newTokenLines, tokenLines, tokenObject } from './print.ts'

type TokenOptions = { json?: true }

export function defineTokens(command: Command): void {
  const tokens = command.command('token').description('make, list and revoke tokens')
  tokenCommand(tokens, 'create', 'make a token, and print it this once')
    .option('--name <name>', 'what people tell it by', parseTokenNameArgument, 'unnamed')
    .option('--expires <when>', 'the day (UTC) or instant from which on it is refused', parseInstantArgument)
    .action(createTokenCommand)
  tokenCommand(tokens, 'list', 'list the tokens').action(listTokens)
  tokenCommand(tokens, 'revoke', 'revoke a token: it is refused everywhere within a second')
    .argument('[token]', 'its id, name or beginning; may be left out where one alone is active')
    .action(revokeTokenCommand)
}

const tokenCommand = (command: Command, name: string, description: string): Command =>
  command
    .command(name)
    .description(description)
    .argument('<email>', 'the address of the account', parseEmailArgument)
    .option('--json', 'print one JSON object')

async function createTokenCommand(
  email: string,
  options: TokenOptions & { name: string; expires?: Instant },
): Promise<void> {
  const { name, expires = null, json } = options
  const text = makeToken(randomBytes(TOKEN_BYTES))
  await withExistingStore('read', async ({ ledger, now: clock }) => {
    const now = await clock()
    if (expires !== null && expires <= now)
      throw new CommandFault('the token would have expired already: name a later --expires')
    const { id } = await requireAccount(ledger, email)
    const token = await ledger
      .as(actorOf('domaindex account token create'))
      .createToken(id, newTokenRecord(text, name, expires), now)
    printResult(json, { email, ...tokenObject(token, now), token: text }, [
      ...tokenLines([token], now),
      '',
      ...newTokenLines(text),
    ])
  })
}

async function listTokens(email: string, { json }: TokenOptions): Promise<void> {
  await withExistingStore('read', async ({ ledger, now: clock }) => {
    const now = await clock()
    const tokens = await ledger.tokens((await requireAccount(ledger, email)).id)
    printResult(json, { email, tokens: tokens.map((token) => tokenObject(token, now)) }, tokenLines(tokens, now))
  })
}

async function revokeTokenCommand(email: string, given: string | undefined, { json }: TokenOptions): Promise<void> {
  await withExistingStore('read', async ({ ledger, now: clock }) => {
    const now = await clock()
    const account = await requireAccount(ledger, email)
    const active = (await ledger.tokens(account.id)).filter((token) => isActive(token, now))
    const meant = findActiveTokens(active, given)
    const [token] = meant
    if (meant.length > 1)
      throw new CommandFault(
        `${email} has several such tokens; name one by its id:\n${tokenLines(meant, now).join('\n')}`,
      )
    if (
      token === undefined ||
      !(await ledger.as(actorOf('domaindex account token revoke')).revokeToken(account.id, token.id, now))
    )
      throw new CommandFault(
        `${email} has no such token that is active; domaindex account token list ${email} shows all`,
      )
    const revoked = { ...token, revoked: now }
    printResult(json, { email, ...tokenObject(revoked, now) }, tokenLines([revoked], now))
  })
}

/** The active tokens that a text may mean: by id, else by name or beginning; without a text all of them. */
function findActiveTokens(active: readonly Token[], given: string | undefined): readonly Token[] {
  const text = given?.trim()
  if (text === undefined) return active
  if (parseToken(text) !== null)
    throw new CommandFault(
      'name a token by its id, name or first 8 characters: a whole one is seen in the list of processes',
    )
  const byId = active.filter((token) => String(token.id) === text)
  return byId.length > 0 ? byId : active.filter(({ name, hint }) => name === text || hint === text.replace(/…$/, ''))
}
