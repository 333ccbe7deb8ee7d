/** `domaindex rotate-secret`: gives the installation a new secret; what the former one signed is honoured for 24 hours. */

import type { Command } from 'commander'
import { actorOf } from '../store/shared/actor.ts'
import { FORMER_SECRET_SECONDS } from '../store/shared/secrets.ts'
import { withExistingStore } from './program/existing-store.ts'
import { printResult } from './program/print-result.ts'

export function defineRotateSecret(command: Command): void {
  command
    .addHelpText(
      'after',
      '\nCursors that were issued before stay valid until they expire. Running servers follow by themselves.',
    )
    .option('--json', 'print one JSON object: honoured_seconds, of the former secret')
    .action(({ json }: { json?: true }) =>
      withExistingStore('read', async ({ ledger, now }) => {
        await ledger.as(actorOf('domaindex rotate-secret')).rotateSecret(await now())
        const words = 'the installation has a new secret; the former one is honoured for 24 hours'
        printResult(json, { honoured_seconds: FORMER_SECRET_SECONDS }, [words])
      }),
    )
}
