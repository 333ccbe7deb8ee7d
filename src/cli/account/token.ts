/** `domaindex account token`: creates, lists and revokes the tokens of an account. */

import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { isActive, makeToken, newTokenRecord, parseToken, TOKEN_BYTES, type Token } from '../../accounts/token.ts'
import { CommandFault } from '../../config/command-fault.ts'
import { actorOf } from '../../store/shared/actor.ts'
import type { Instant } from '../../values/time.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { parseEmailArgument, parseInstantArgument, parseTokenNameArgument } from './arguments.ts'
import { newTokenLines, tokenLines, tokenObject } from './print.ts'
import { requireAccount } from './read-accounts.ts'

type TokenOptions = { json?: true }

export function defineTokens(command: Command): void {
  const tokens = command.command('token').description('create, list and revoke tokens')
  tokenCommand(tokens, 'create', 'create a token and print it; it cannot be shown again')
    .option('--name <name>', 'a name for the token', parseTokenNameArgument, 'unnamed')
    .option('--expires <when>', 'the day (UTC) or time from which the token is rejected', parseInstantArgument)
    .action(createTokenCommand)
  tokenCommand(tokens, 'list', 'list the tokens').action(listTokens)
  tokenCommand(tokens, 'revoke', 'revoke a token: every server rejects it within a second')
    .argument('[token]', 'its id, its name or its first 8 characters; optional if only one token is active')
    .action(revokeTokenCommand)
}

const tokenCommand = (command: Command, name: string, description: string): Command =>
  command
    .command(name)
    .description(description)
    .argument('<email>', 'the email address of the account', parseEmailArgument)
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
      throw new CommandFault('the token would already have expired: use a later --expires')
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

async function revokeTokenCommand(email: string, selector: string | undefined, { json }: TokenOptions): Promise<void> {
  await withExistingStore('read', async ({ ledger, now: clock }) => {
    const now = await clock()
    const account = await requireAccount(ledger, email)
    const active = (await ledger.tokens(account.id)).filter((token) => isActive(token, now))
    const matching = findActiveTokens(active, selector)
    const [token] = matching
    if (matching.length > 1)
      throw new CommandFault(
        `several tokens of ${email} match; select one by its id:\n${tokenLines(matching, now).join('\n')}`,
      )
    if (
      token === undefined ||
      !(await ledger.as(actorOf('domaindex account token revoke')).revokeToken(account.id, token.id, now))
    )
      throw new CommandFault(
        `${email} has no such active token; domaindex account token list ${email} shows all tokens`,
      )
    const revoked = { ...token, revoked: now }
    printResult(json, { email, ...tokenObject(revoked, now) }, tokenLines([revoked], now))
  })
}

/** Finds the active tokens that a text matches: by id, else by name or hint. Without a text, all of them match. */
function findActiveTokens(active: readonly Token[], selector: string | undefined): readonly Token[] {
  const text = selector?.trim()
  if (text === undefined) return active
  if (parseToken(text) !== null)
    throw new CommandFault(
      'select a token by its id, name or first 8 characters: the process list would show the whole token',
    )
  const byId = active.filter((token) => String(token.id) === text)
  return byId.length > 0 ? byId : active.filter(({ name, hint }) => name === text || hint === text.replace(/…$/, ''))
}
