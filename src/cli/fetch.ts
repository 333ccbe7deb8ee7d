/** `domaindex fetch`: fetches names from their publishers, with one subcommand for each source. */

import type { Command } from 'commander'
import { defineFetchAxfr } from './fetch/axfr.ts'
import { defineFetchCt } from './fetch/ct.ts'
import { defineFetchCzds } from './fetch/czds.ts'
import { defineFetchList } from './fetch/list.ts'

export function defineFetch(command: Command): void {
  defineFetchAxfr(command)
  defineFetchCt(command)
  defineFetchCzds(command)
  defineFetchList(command)
}
