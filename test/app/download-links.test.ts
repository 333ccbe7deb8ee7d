/** Download links: each is for one account, session, file, content, time and installation. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveKeys, signCursor } from '../../src/api/signing/cursor.ts'
import { LINK_KEY_PURPOSE, type LinkOwner, signLink, verifyLink } from '../../src/api/signing/download-links.ts'
import type { FileName } from '../../src/jobs/file-store/file-store.ts'

const NOW = 1_795_000_000
const FILE = '2026-11-18.txt.gz' as FileName
const ETAG = '"0123456789abcdef"'
const OWNER: LinkOwner = { account: 1, session: 11, name: FILE }

const secretOf = (number: number) => ({ number, bytes: new Uint8Array(32).fill(number) })
const keysOf = (...numbers: number[]) => deriveKeys(numbers.map(secretOf), LINK_KEY_PURPOSE)
const LINK = signLink(keysOf(1), OWNER, ETAG, NOW)

test('a link has the entity tag of the file for its owner, until 15 minutes have passed', () => {
  assert.match(LINK, /^[\w.-]+$/)
  for (const at of [NOW, NOW + 899]) assert.equal(verifyLink(keysOf(1), LINK, OWNER, at), ETAG)
  assert.equal(verifyLink(keysOf(1), LINK, OWNER, NOW + 900), null)
})

test('a link is of no use to another account, session or file', () => {
  const others: Partial<LinkOwner>[] = [{ account: 2 }, { session: 12 }, { name: '2026-11-17.txt.gz' as FileName }]
  for (const other of others) assert.equal(verifyLink(keysOf(1), LINK, { ...OWNER, ...other }, NOW), null)
  assert.equal(verifyLink(keysOf(1), LINK, { account: 11, session: 1, name: FILE }, NOW), null)
})

test('no part of a link can be changed', () => {
  const parts = LINK.split('.')
  for (const [index, part] of parts.entries())
    for (const other of ['', `${part}0`, part.slice(1), '9999999999'])
      assert.equal(verifyLink(keysOf(1), parts.with(index, other).join('.'), OWNER, NOW), null, `${index} ${other}`)
  for (const text of ['', '.', '...', '1', `${LINK}.`, LINK.toUpperCase(), `${LINK}.${LINK}`])
    assert.equal(verifyLink(keysOf(1), text, OWNER, NOW), null, text)
})

test('a link is valid while its secret is, and for this purpose only', () => {
  assert.equal(verifyLink(keysOf(2, 1), LINK, OWNER, NOW), ETAG)
  assert.equal(verifyLink(keysOf(2), LINK, OWNER, NOW), null)
  const cursorKeys = deriveKeys([secretOf(1)], 'domaindex cursor 1')
  assert.equal(verifyLink(cursorKeys, LINK, OWNER, NOW), null)
  const cursor = signCursor(cursorKeys, { endpoint: 'files', query: FILE, type: '', position: '', issued: NOW })
  assert.equal(verifyLink(keysOf(1), cursor, OWNER, NOW), null)
})
