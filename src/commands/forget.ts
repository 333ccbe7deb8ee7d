/** `domaindex forget`: removes all that is known of names, and keeps them from coming back. */

import type { Command } from 'commander'
import { type Name, parseName, whyNotName } from '../words/name.ts'
import { CommandFault } from './fault.ts'
import { withStore } from './store.ts'

const HELP = `
What imports and crawls bring of a forgotten name later is dropped. Backups made before still hold it.`

export function define(command: Command): void {
  command
    .argument('<name...>', 'the names')
    .addHelpText('after', HELP)
    .action(async (given: string[]) => {
      const names = given.map(readName)
      await withStore('write', async ({ frontier }) => {
        for (const name of names)
          console.log(`${name}: ${(await frontier.forget(name)) ? 'forgotten' : 'was not known'}`)
      })
    })
}

function readName(text: string): Name {
  const name = parseName(text)
  if (name === null) throw new CommandFault(`${JSON.stringify(text)}: ${whyNotName(text)}`)
  return name
}
