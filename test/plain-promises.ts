/**
 * Loaded before every test file (`--import`): node:test follows each promise to its test with async hooks, which doubles the
 * processor time of tests with many promises. Without them an error that nobody catches still fails its file.
 */

import hooks from 'node:async_hooks'
import { createRequire } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  const { createHook } = hooks
  const none = {
    enable: () => none,
    disable: () => none,
  }
  hooks.createHook = () => none
  createRequire(import.meta.url)('node:test') // takes what it finds, once
  hooks.createHook = createHook
}
