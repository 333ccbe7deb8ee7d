/** `domaindex rotate-secret`: gives the installation a new secret; what the former one signed is honoured for 24 hours. */

import type { Command } from 'commander'
import { actorOf } from '../store/actor.ts'
import { withStore } from './store.ts'

export function define(command: Command): void {
  command
    .addHelpText(
      'after',
      '\nCursors that were issued before stay valid until they expire. Running servers follow by themselves.',
    )
    .action(() =>
      withStore('read', async ({ ledger, now }) => {
        await ledger.as(actorOf('domaindex rotate-secret')).rotateSecret(await now())
        console.log('the installation has a new secret; the former one is honoured for 24 hours')
      }),
    )
}
