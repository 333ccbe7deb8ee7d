/** `domaindex redirect`: prints the domains that redirect to a domain. */

import type { Command } from 'commander'
import { askRows } from './query/pages.ts'
import { addPageOptions, defineQueryCommand } from './query/query-command.ts'

const REDIRECT_FIELDS = ['query', 'target']

export function defineRedirect(command: Command): void {
  const defined = defineQueryCommand(command, {
    argument: 'the domains',
    shape: { fields: REDIRECT_FIELDS, columns: REDIRECT_FIELDS },
    ask: (client, options) => askRows(client, 'redirect', options),
  })
  addPageOptions(defined, 'rows')
}
