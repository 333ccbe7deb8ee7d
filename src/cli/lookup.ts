/** `domaindex lookup`: prints the key characteristics of domains. */

import type { Command } from 'commander'
import { askLookup } from './query/pages.ts'
import { defineQueryCommand } from './query/query-command.ts'

const LOOKUP_FIELDS = [
  'query',
  'has_website',
  'redirect_to_https',
  'redirect_to_www',
  'redirect_to_domain',
  'only_with_www',
  'only_dns_no_web',
  'ssl',
  'ip',
  'redirect_count',
  'reverse_ip_count',
  'social_networks',
  'social_accounts',
]
/** What fits in a line of a terminal. */
const LOOKUP_COLUMNS = ['query', 'has_website', 'redirect_to_domain', 'ssl', 'ip', 'redirect_count', 'reverse_ip_count']

export function defineLookup(command: Command): void {
  defineQueryCommand(command, {
    argument: 'the domains',
    shape: { fields: LOOKUP_FIELDS, columns: LOOKUP_FIELDS, tableColumns: LOOKUP_COLUMNS },
    ask: (client) => askLookup(client),
    isSingle: true,
  })
}
