/** `domaindex account token` and `domaindex operator token`: creates, lists and revokes tokens. */

import { randomBytes } from 'node:crypto'
import { type Command, InvalidArgumentError } from 'commander'
import {
  isActive,
  makeToken,
  newTokenRecord,
  OPERATOR_TOKEN_PREFIX,
  parseToken,
  TOKEN_BYTES,
  type Token,
} from '../../accounts/token.ts'
import { CommandFault } from '../../config/command-fault.ts'
import type { Ledger } from '../../store/port/ledger.ts'
import { actorOf } from '../../store/shared/actor.ts'
import type { Instant } from '../../values/time.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/output.ts'
import {
  newTokenLines,
  parseEmailArgument,
  parseInstantArgument,
  parseTokenNameArgument,
  tokenLines,
  tokenObject,
} from './print.ts'
import { requireAccount } from './reports.ts'

type OperatorOptions = { json?: true }

const OPERATOR_HELP = `
A token of an operator opens /admin/v1: accounts, tokens, periods, add-ons, usage and the audit log.
It opens no data. Keep it where only the program that sells access reads it.`

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

/** Opens the ledger of the store, which must exist, and reads its clock. */
function withLedger(work: (ledger: Ledger, now: Instant) => Promise<void>): Promise<void> {
  return withExistingStore('read', async ({ ledger, now }) => work(ledger, await now()))
}

function requireFuture(expires: Instant | null, now: Instant): void {
  if (expires !== null && expires <= now)
    throw new CommandFault('the token would already have expired: use a later --expires')
}

function createdLines(token: Token, text: string, now: Instant): string[] {
  return [...tokenLines([token], now), '', ...newTokenLines(text)]
}

async function createTokenCommand(
  email: string,
  options: TokenOptions & { name: string; expires?: Instant },
): Promise<void> {
  const { name, expires = null, json } = options
  const text = makeToken(randomBytes(TOKEN_BYTES))
  await withLedger(async (ledger, now) => {
    requireFuture(expires, now)
    const { id } = await requireAccount(ledger, email)
    const token = await ledger
      .as(actorOf('domaindex account token create'))
      .createToken(id, newTokenRecord(text, name, expires), now)
    printResult(json, { email, ...tokenObject(token, now), token: text }, createdLines(token, text, now))
  })
}

async function listTokens(email: string, { json }: TokenOptions): Promise<void> {
  await withLedger(async (ledger, now) => {
    const tokens = await ledger.tokens((await requireAccount(ledger, email)).id)
    printResult(json, { email, tokens: tokens.map((token) => tokenObject(token, now)) }, tokenLines(tokens, now))
  })
}

async function revokeTokenCommand(email: string, selector: string | undefined, { json }: TokenOptions): Promise<void> {
  await withLedger(async (ledger, now) => {
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

/** `domaindex operator token`: creates, lists and revokes the tokens of operators, for the paths under /admin/v1. */
export function defineOperator(command: Command): void {
  command.addHelpText('after', OPERATOR_HELP)
  const tokens = command.command('token').description('create, list and revoke tokens of operators')
  tokens
    .command('create')
    .description('create a token and print it; it cannot be shown again')
    .argument('<name>', 'what uses the token', parseTokenNameArgument)
    .option('--expires <when>', 'the day (UTC) or time from which the token is rejected', parseInstantArgument)
    .option('--json', 'print one JSON object')
    .action(createOperatorToken)
  tokens
    .command('list')
    .description('list the tokens')
    .option('--json', 'print one JSON object: tokens')
    .action(listOperatorTokens)
  tokens
    .command('revoke')
    .description('revoke a token: every server rejects it at once')
    .argument('<id>', 'its id', parseTokenIdArgument)
    .option('--json', 'print one JSON object')
    .action(revokeOperatorToken)
}

function parseTokenIdArgument(text: string): number {
  if (parseToken(text, OPERATOR_TOKEN_PREFIX) !== null)
    throw new InvalidArgumentError('Select a token by its id: the process list would show the whole token.')
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be the id of a token.')
  return Number(text)
}

async function createOperatorToken(name: string, options: OperatorOptions & { expires?: Instant }): Promise<void> {
  const { expires = null, json } = options
  const text = makeToken(randomBytes(TOKEN_BYTES), OPERATOR_TOKEN_PREFIX)
  await withLedger(async (ledger, now) => {
    requireFuture(expires, now)
    const changes = ledger.as(actorOf('domaindex operator token create'))
    const token = await changes.createOperatorToken(newTokenRecord(text, name, expires), now)
    printResult(json, { ...tokenObject(token, now), token: text }, createdLines(token, text, now))
  })
}

async function listOperatorTokens({ json }: OperatorOptions): Promise<void> {
  await withLedger(async (ledger, now) => {
    const tokens = await ledger.operatorTokens()
    printResult(json, { tokens: tokens.map((token) => tokenObject(token, now)) }, tokenLines(tokens, now))
  })
}

async function revokeOperatorToken(id: number, { json }: OperatorOptions): Promise<void> {
  await withLedger(async (ledger, now) => {
    const token = (await ledger.operatorTokens()).find((each) => each.id === id)
    const changes = ledger.as(actorOf('domaindex operator token revoke'))
    if (token === undefined || !isActive(token, now) || !(await changes.revokeOperatorToken(id, now)))
      throw new CommandFault(`there is no active token ${id}; domaindex operator token list shows all tokens`)
    const revoked = { ...token, revoked: now }
    printResult(json, tokenObject(revoked, now), tokenLines([revoked], now))
  })
}
