/**
 * The session port of the ledger: statements that both engines run, and transactions as generators. An engine runs a
 * transaction by answering each statement that it yields: SQLite at once, PostgreSQL when the server replies.
 */

import type { Instant } from '../../values/time.ts'

/**
 * What the engines write differently in SQL. Numbered parameters (`$1`) and row locks are PostgreSQL's; SQLite's engine
 * translates them.
 */
export type Dialect = {
  /** The account `a` with its periods and add-ons, as JSON text. */
  accountJson: string
  /** The column `email`, compared without letter case. */
  emailKey: string
  /** A parameter that is compared with `emailKey`. */
  emailKeyOf(parameter: string): string
  /** The column `details` of the audit log without its key `name`. */
  detailsWithoutName: string
}

/** A statement of the ledger. `name` is unique: PostgreSQL prepares by it. */
export type LedgerStatement = { name: string; text: string | ((dialect: Dialect) => string) }

/** The statements of one subject, named `subject.key`. */
export function ledgerStatements<Key extends string>(
  subject: string,
  texts: Record<Key, LedgerStatement['text']>,
): Record<Key, LedgerStatement> {
  const entries = Object.entries<LedgerStatement['text']>(texts)
  return Object.fromEntries(entries.map(([key, text]) => [key, { name: `${subject}.${key}`, text }])) as Record<
    Key,
    LedgerStatement
  >
}

/** The text of a statement in the SQL of an engine. */
export function statementText({ text }: LedgerStatement, dialect: Dialect): string {
  return typeof text === 'string' ? text : text(dialect)
}

/** Reads outside of a transaction. */
export type LedgerRead = <Row>(statement: LedgerStatement, values?: readonly unknown[]) => Promise<Row[]>

/** A statement of a transaction. `returns`: its rows, or the number of rows that it changed. */
export type LedgerQuery = { statement: LedgerStatement; values: readonly unknown[]; returns: 'rows' | 'changes' }

/** The statements of one transaction. The engine may run it again from its start if it conflicts with another one. */
export type Transaction<Result> = Generator<LedgerQuery, Result, unknown>

export function* rows<Row>(statement: LedgerStatement, values: readonly unknown[]): Transaction<Row[]> {
  return (yield { statement, values, returns: 'rows' }) as Row[]
}

/** The only row of a statement, if there is one. */
export function* row<Row>(statement: LedgerStatement, values: readonly unknown[]): Transaction<Row | undefined> {
  return (yield* rows<Row>(statement, values))[0]
}

/** Returns the number of changed rows. */
export function* run(statement: LedgerStatement, values: readonly unknown[]): Transaction<number> {
  return (yield { statement, values, returns: 'changes' }) as number
}

/** Transactions by name. The first parameter of each is the time of the change. */
type Transactions = { [name: string]: (now: Instant, ...values: never[]) => Transaction<unknown> }

/** What each transaction takes after the time, and what it returns. */
export type WriteMethods<Named extends Transactions> = {
  [Name in keyof Named]: Named[Name] extends (now: Instant, ...values: infer Values) => Transaction<infer Result>
    ? (now: Instant, ...values: Values) => Result
    : never
}

type Methods = { [name: string]: (now: Instant, ...values: never[]) => unknown }
type ValuesOf<Method> = Method extends (now: Instant, ...values: infer Values) => unknown ? Values : never

/** Runs a transaction by its name. `now`: the time of the change; without it, the engine's. */
export type LedgerWrite<Named extends Methods> = <Name extends keyof Named>(
  name: Name,
  values: ValuesOf<Named[Name]>,
  now?: Instant | null,
) => Promise<ReturnType<Named[Name]>>

/** Runs a transaction on an engine that answers each statement at once. */
export function runTransactionInline<Result>(
  transaction: Transaction<Result>,
  answer: (query: LedgerQuery) => unknown,
): Result {
  let step = transaction.next()
  while (!step.done) step = transaction.next(answer(step.value))
  return step.value
}

/** Runs a transaction on an engine whose answers take time. */
export async function runTransactionAsync<Result>(
  transaction: Transaction<Result>,
  answer: (query: LedgerQuery) => Promise<unknown>,
): Promise<Result> {
  let step = transaction.next()
  while (!step.done) step = transaction.next(await answer(step.value))
  return step.value
}
