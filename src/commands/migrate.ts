/** `domaindex migrate`: brings an older store up to this release. */

import type { Command } from 'commander'
import { migrateStore } from '../store/open.ts'
import { settingsOfStore } from './store.ts'

export function define(command: Command): void {
  command.option('--plan', 'only say what would be done').action(async ({ plan = false }: { plan?: boolean }) => {
    const tell = (words: string): void => console.error(`domaindex: ${words}`)
    const done = await migrateStore((await settingsOfStore()).store, plan, tell)
    for (const name of done) console.log(`${plan ? 'would apply' : 'applied'} ${name}`)
    if (done.length === 0) console.log('the store is up to date')
  })
}
