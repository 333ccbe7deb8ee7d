/** `domaindex claim`: makes the places that the settings name those of the installation. */

import type { Command } from 'commander'
import { SETTINGS } from '../config/settings.ts'
import { claimPlaces } from '../server/places/check.ts'
import { placesOf } from '../server/places/place.ts'
import { loadExistingStoreSettings, withExistingStore } from './program/existing-store.ts'
import { printResult } from './program/print-result.ts'

const CLAIM_HELP = `
Every place where the installation keeps files has a mark. A server whose place has another mark, or
none, is not ready. Run this command on one server if a place was lost, or replaced by another one.
The next jobs build the files that are missing. A server that still uses the former place is not
ready from then on.`

export function defineClaim(command: Command): void {
  command
    .option('--json', 'print one JSON object: places, each with name and location')
    .addHelpText('after', CLAIM_HELP)
    .action(async ({ json }: { json?: true }) => {
      const places = await placesOf(await loadExistingStoreSettings())
      await withExistingStore('read', (store) => claimPlaces(places, store))
      const claimed = places.map(({ name, location }) => ({ name, location }))
      printResult(
        json,
        { places: claimed },
        claimed.map(({ name, location }) => `${SETTINGS[name].name} (${location}) belongs to this installation`),
      )
    })
}
