/** A store with the observations of a world, filled by the import of the program. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { domaindexCommand, runProcess } from '../measure/process.ts'
import { writeObservations } from './observation-files.ts'
import { createTokens, type StoreFiles, storeFilesIn } from './store.ts'
import { firstProbeRound, type World } from './world.ts'

/** The first probe round of a world without texts, and the tokens of its accounts. */
export type ImportedWorld = { world: World; store: StoreFiles; tokens: readonly string[] }

/** Creates a store of so many names and accounts in a folder. */
export async function createImportedWorld(folder: string, names: number, accounts: number): Promise<ImportedWorld> {
  const world: World = { seed: 1, names, text: false }
  const store = storeFilesIn(folder)
  await importWorld(folder, store, world)
  return { world, store, tokens: await createTokens(store, accounts, world.seed) }
}

export async function importWorld(folder: string, store: StoreFiles, world: World): Promise<void> {
  const path = join(folder, 'world.jsonl')
  writeObservations(path, world, firstProbeRound(), 'slot')
  await runProcess(domaindexCommand('import', path), { env: store.env })
  rmSync(path)
}
