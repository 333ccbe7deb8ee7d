/** The sources of the web page: text from outside never becomes markup or code. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { AUDIT_ACTIONS } from '../../src/accounts/audit.ts'
import { AUDITED_CHANGES } from '../../web/views/operator/audit-actions.ts'

const ROOT = `${import.meta.dirname}/../..`
const FORBIDDEN =
  /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|createContextualFragment|\beval\b|new Function|javascript:/i

test('no source of the page makes markup or code from a text', () => {
  const paths = globSync('web/**/*.{ts,tsx}', { cwd: ROOT })
  assert.ok(paths.length > 40)
  const found = paths.filter((path) => FORBIDDEN.test(readFileSync(`${ROOT}/${path}`, 'utf8')))
  assert.deepEqual(found, [])
})

test('the filter of the audit log offers every action', () => {
  assert.deepEqual(AUDITED_CHANGES, AUDIT_ACTIONS)
})
