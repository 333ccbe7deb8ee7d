/** `domaindex account export`: writes everything that the store has about an account. */

import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { UsageFault } from '../../config/command-fault.ts'
import { accountDocument } from '../../server/account-document.ts'
import { actorOf } from '../../store/shared/actor.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/output.ts'
import { standardOutput, writeLines } from '../store/export.ts'
import { parseEmailArgument } from './print.ts'
import { requireAccount } from './reports.ts'

const EXPORT_ACCOUNT_HELP = `
The document is JSON: the account, its tokens, sessions, usage, watches, webhooks, digest, feed, entries of
the audit log and events. It has no secrets: no tokens, passwords and keys. Only the owner of the file can
read it. It is gzipped if its name ends in .gz.`

/** Only the owner of the file can read it. */
const PRIVATE_MODE = 0o600

export function defineExportAccount(command: Command): void {
  command
    .command('export')
    .description('write everything that is stored about an account as one JSON document')
    .argument('<email>', 'the email address of the account', parseEmailArgument)
    .option('--out <file>', 'write to this file instead of standard output')
    .option('--json', 'print one JSON object at the end: exported, account, out (needs --out)')
    .addHelpText('after', EXPORT_ACCOUNT_HELP)
    .action(exportAccount)
}

async function exportAccount(email: string, { out, json }: { out?: string; json?: true }): Promise<void> {
  if (json && out === undefined) throw new UsageFault('--json needs --out: standard output has the document')
  await withExistingStore('read', async (store) => {
    const account = await requireAccount(store.ledger, email)
    await store.ledger.as(actorOf('domaindex account export')).recordExport(account.id)
    const document = accountDocument(store, account, await store.now())
    if (out === undefined) return pipeline(document, standardOutput())
    await writeLines(out, document, PRIVATE_MODE)
    printResult(json, { exported: email, account: account.id, out }, [`wrote the data of ${email} to ${out}`])
  })
}
