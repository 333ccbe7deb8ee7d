/** `domaindex reverseip`: prints the domains that share an address with a domain, or that are on an address. */

import type { Command } from 'commander'
import { askRows } from './query/pages.ts'
import { addPageOptions, defineQueryCommand } from './query/query-command.ts'

const REVERSEIP_FIELDS = ['query', 'target', 'ip', 'since']

export function defineReverseip(command: Command): void {
  const defined = defineQueryCommand(command, {
    argument: 'the domains and IP addresses',
    shape: { fields: REVERSEIP_FIELDS, columns: REVERSEIP_FIELDS },
    ask: (client, options) => askRows(client, 'reverseip', options),
  })
  addPageOptions(defined, 'rows')
}
