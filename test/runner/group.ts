/** Runs test files in one process, each as a suite of its own. */

import { relative } from 'node:path'
import { describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { tracked } from './untracked-promises.ts'

const ROOT = `${import.meta.dirname}/../..`

/** Loads the files of these paths one after another. node:test runs their tests, in the same order, after that. */
export async function runTogether(paths: readonly string[]): Promise<void> {
  await tracked(async () => {
    let earlier: Promise<unknown> = Promise.resolve()
    for (const path of paths) {
      const previous = earlier
      const { promise, resolve } = Promise.withResolvers<void>()
      earlier = promise
      describe(relative(ROOT, path), async () => {
        await previous
        await import(pathToFileURL(path).href).finally(resolve)
      })
    }
    await earlier
  })
}
