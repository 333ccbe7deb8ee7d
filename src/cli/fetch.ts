/** `domaindex fetch`: fetches names from those who publish them. One subcommand a source. */

import type { Command } from 'commander'
import { defineFetchCzds } from './fetch/czds.ts'
import { defineFetchList } from './fetch/list.ts'

export function defineFetch(command: Command): void {
  defineFetchCzds(command)
  defineFetchList(command)
}
