/**
 * Loaded before the tests (`--import`): node:test then tracks its tests, but not every promise and callback that they
 * create. Tracking these takes a fifth of the processor time of the suite. Without it, an error that is thrown in a
 * timer or by a promise that nobody awaits fails the group of files instead of the test.
 */

import asyncHooks, { type HookCallbacks } from 'node:async_hooks'

/** The type of the resources that node:test creates for tests and suites. */
const TEST_RESOURCE = 'Test'

const { createHook, executionAsyncId } = asyncHooks
/** How many calls of `tracked` are running. */
let tracking = 0

function createHookOfTests({ init }: HookCallbacks): asyncHooks.AsyncHook {
  return createHook({
    init(id, type, _trigger, resource) {
      if (tracking > 0 || type === TEST_RESOURCE) init?.(id, type, executionAsyncId(), resource)
    },
  })
}

Object.assign(asyncHooks, { createHook: createHookOfTests })

/** Tracks promises while `load` runs: tests and hooks of a file that it imports belong to the suite around it. */
export async function tracked(load: () => Promise<unknown>): Promise<void> {
  tracking++
  try {
    await load()
  } finally {
    tracking--
  }
}
