/** `domaindex fetch`: fetches names from their publishers, with one subcommand for each source. */

import type { Command } from 'commander'
import { defineFetchCt } from './ct.ts'
import { defineFetchList } from './list.ts'
import { defineFetchAxfr, defineFetchCzds } from './zones.ts'

export function defineFetch(command: Command): void {
  defineFetchAxfr(command)
  defineFetchCt(command)
  defineFetchCzds(command)
  defineFetchList(command)
}
