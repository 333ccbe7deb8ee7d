/** Reads accounts from the ledger for the account commands. */

import type { Account } from '../../accounts/account.ts'
import { CommandFault } from '../../config/command-fault.ts'
import type { Ledger } from '../../store/port/ledger.ts'

/** Accounts per read. */
const ACCOUNT_PAGE_ROWS = 1_000

/** Returns all accounts, sorted by email address. */
export async function allAccounts(ledger: Ledger): Promise<Account[]> {
  const accounts: Account[] = []
  for (;;) {
    const page = await ledger.accounts(accounts.at(-1)?.email ?? null, ACCOUNT_PAGE_ROWS)
    accounts.push(...page)
    if (page.length < ACCOUNT_PAGE_ROWS) return accounts
  }
}

/** Returns the account of an email address. Throws CommandFault if there is none. */
export async function requireAccount(ledger: Ledger, email: string): Promise<Account> {
  const account = await ledger.account(email)
  if (account === null) throw new CommandFault(`there is no account ${email}`)
  return account
}
