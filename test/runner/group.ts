/** Runs test files in one process, each as a suite of its own. */

import { rmSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { after, before, describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { limitEnd, noteResources } from './open-handles.ts'
import { tracked } from './untracked-promises.ts'

const ROOT = `${import.meta.dirname}/../..`

/**
 * Loads the files of these paths one after another. node:test runs their tests, in the same order, after that. `runningPath`:
 * where the runner finds the number of this process and the file that runs.
 */
export async function runTogether(paths: readonly string[], runningPath: string): Promise<void> {
  process.on('exit', () => rmSync(runningPath, { force: true }))
  await tracked(async () => {
    let earlier: Promise<unknown> = Promise.resolve()
    for (const path of paths) {
      const previous = earlier
      const { promise, resolve } = Promise.withResolvers<void>()
      earlier = promise
      const file = relative(ROOT, path)
      describe(file, async () => {
        before(() => {
          writeFileSync(runningPath, JSON.stringify({ pid: process.pid, file }))
          noteResources(file)
        })
        await previous
        await import(pathToFileURL(path).href).finally(resolve)
      })
    }
    await earlier
    after(limitEnd)
  })
}
