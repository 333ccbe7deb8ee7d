/**
 * Loaded before every test file (`--import`): node:test then tracks its tests, but not every promise and callback that
 * they create. Tracking these takes a fifth of the processor time of the suite. Without it, an error that is thrown in
 * a timer or by a promise that nobody awaits fails the file instead of the test.
 */

import asyncHooks, { type HookCallbacks } from 'node:async_hooks'

/** The type of the resources that node:test creates for tests and suites. */
const TEST_RESOURCE = 'Test'

const { createHook } = asyncHooks

function createHookOfTests({ init }: HookCallbacks): asyncHooks.AsyncHook {
  return createHook({
    init(id, type, trigger, resource) {
      if (type === TEST_RESOURCE) init?.(id, type, trigger, resource)
    },
  })
}

Object.assign(asyncHooks, { createHook: createHookOfTests })
