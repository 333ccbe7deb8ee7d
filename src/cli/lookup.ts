/** `domaindex lookup`: prints the key characteristics of domains. */

import type { Command } from 'commander'
import { askLookup, askObserved } from './query/pages.ts'
import { defineQueryCommand } from './query/query-command.ts'
import { isJsonOutput } from './query/row-writer.ts'

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
/** Those of the specification, and when DNS and website were last observed. */
const LOOKUP_COLUMNS = [...LOOKUP_FIELDS, 'dns_observed', 'web_observed']
/** What fits in a line of a terminal. */
const LOOKUP_TABLE_COLUMNS = [
  ...['query', 'has_website', 'redirect_to_domain', 'ssl', 'ip', 'redirect_count', 'reverse_ip_count'],
  ...['dns_observed', 'web_observed'],
]

export function defineLookup(command: Command): void {
  defineQueryCommand(command, {
    argument: 'the domains',
    shape: { fields: LOOKUP_FIELDS, columns: LOOKUP_COLUMNS, tableColumns: LOOKUP_TABLE_COLUMNS },
    ask: (client, options) => (isJsonOutput(options) ? askLookup(client) : askObserved(client)),
    isBatched: isJsonOutput,
    isSingle: true,
  })
}
