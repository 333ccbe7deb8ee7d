/** `domaindex rotate-secret`: replaces the secret of the installation. The previous secret stays valid for 24 hours. */

import type { Command } from 'commander'
import { actorOf } from '../store/shared/actor.ts'
import { FORMER_SECRET_SECONDS } from '../store/shared/secrets.ts'
import { withExistingStore } from './program/existing-store.ts'
import { printResult } from './program/print-result.ts'

export function defineRotateSecret(command: Command): void {
  command
    .addHelpText('after', '\nExisting cursors stay valid until they expire. Running servers pick up the new secret.')
    .option('--json', 'print one JSON object: honoured_seconds, how long the previous secret stays valid')
    .action(({ json }: { json?: true }) =>
      withExistingStore('read', async ({ ledger, now }) => {
        await ledger.as(actorOf('domaindex rotate-secret')).rotateSecret(await now())
        const message = 'the installation has a new secret; the previous one stays valid for 24 hours'
        printResult(json, { honoured_seconds: FORMER_SECRET_SECONDS }, [message])
      }),
    )
}
