/** Tests the heads of certificate logs: they are accepted as the log signed them, and in no other form. */

import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { startCertificateLog } from '../../../lab/certificate-log/log.ts'
import { logIdOf, parseCheckpoint, parseSignedTreeHead, requireLogKey } from '../../../src/fetch/ct/log/tree-head.ts'
import { LogFault } from '../../../src/fetch/ct/log.ts'
import { LOG_TIME, labEntries, logOfLab } from './world.ts'

const COUNT = 5
const HEAD_TIME = LOG_TIME + 3_600_000

for (const algorithm of ['ec', 'rsa'] as const) {
  const lab = await startCertificateLog(await labEntries(COUNT), { algorithm, now: () => HEAD_TIME })
  const read = async (path: string): Promise<string> => (await fetch(`${lab.url}${path}`)).text()
  const [checkpoint, treeHead] = [await read('checkpoint'), await read('ct/v1/get-sth')]
  await lab.close()
  const log = logOfLab(lab, 'tiles')
  const [origin, , root = '', , _other, signature = ''] = checkpoint.split('\n')

  test(`${algorithm}: they have the size, the root and the time that the log signed`, () => {
    const expected = { size: COUNT, root: Buffer.from(root, 'base64'), time: HEAD_TIME / 1_000 }
    assert.deepEqual(parseCheckpoint(log, checkpoint), expected)
    assert.deepEqual(parseSignedTreeHead(log, treeHead), expected)
  })

  test(`${algorithm}: a checkpoint may have signatures of others, before the one of the log`, () => {
    const other = `— ${origin} ${Buffer.alloc(80, 7).toString('base64')}\n— witness.example AAAA\nnonsense\n`
    assert.equal(parseCheckpoint(log, checkpoint.replace('\n\n', `\n\n${other}`)).size, COUNT)
    const many = other.repeat(50)
    assert.throws(() => parseCheckpoint(log, checkpoint.replace('\n\n', `\n\n${many}`)), /no signature of its key/)
  })

  test(`${algorithm}: at most 64 signatures of a checkpoint are read`, () => {
    const withOthers = (count: number): string =>
      `${origin}\n${COUNT}\n${root}\n\n${'— witness.example AAAA\n'.repeat(count)}${signature}\n`
    for (const count of [0, 63]) assert.equal(parseCheckpoint(log, withOthers(count)).size, COUNT)
    assert.throws(() => parseCheckpoint(log, withOthers(64)), /no signature of its key/)
  })

  test(`${algorithm}: a line without the dash or the name of the log is not its signature`, () => {
    for (const line of [signature.replace('—', '-'), signature.replace(origin!, `${origin}x`)])
      assert.throws(() => parseCheckpoint(log, checkpoint.replace(signature, line)), /no signature of its key/)
  })

  test(`${algorithm}: a checkpoint has an origin, a size and an empty line before its signatures`, () => {
    for (const [from, to] of [
      ['\n\n', '\n'],
      [`${origin}\n`, '\n'],
      [`\n${COUNT}\n`, '\n\n'],
    ] as const)
      assert.throws(() => parseCheckpoint(log, checkpoint.replace(from, to)), /malformed/)
  })

  test(`${algorithm}: no byte of the signed text or of the signature may differ`, () => {
    const [, name = '', base64 = ''] = signature.split(' ')
    const bytes = Buffer.from(base64, 'base64')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      const line = `— ${name} ${changed.toString('base64')}`
      assert.throws(() => parseCheckpoint(log, checkpoint.replace(signature, line)), LogFault, `byte ${at}`)
    }
    for (const length of [0, 4, 11, 12, 16, bytes.length - 1]) {
      const line = `— ${name} ${bytes.subarray(0, length).toString('base64')}`
      assert.throws(() => parseCheckpoint(log, checkpoint.replace(signature, line)), LogFault, `${length} bytes`)
    }
    const longer = `— ${name} ${Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64')}`
    assert.throws(() => parseCheckpoint(log, checkpoint.replace(signature, longer)), LogFault)
    for (const [from, to] of [
      [`\n${COUNT}\n`, `\n${COUNT + 1}\n`],
      [`\n${COUNT}\n`, `\n0${COUNT}\n`],
      [root, Buffer.alloc(32).toString('base64')],
      [root, Buffer.alloc(31).toString('base64')],
      [`${origin}\n`, `${origin}x\n`],
      ['\n\n', '\n'],
    ] as const)
      assert.throws(() => parseCheckpoint(log, checkpoint.replace(from, to)), LogFault, to)
    const head = JSON.parse(treeHead) as Record<string, unknown>
    for (const [key, value] of Object.entries({
      tree_size: COUNT + 1,
      timestamp: HEAD_TIME + 1,
      sha256_root_hash: Buffer.alloc(32).toString('base64'),
      tree_head_signature: '',
    })) {
      assert.throws(() => parseSignedTreeHead(log, JSON.stringify({ ...head, [key]: value })), LogFault, key)
      assert.throws(
        () => parseSignedTreeHead(log, JSON.stringify({ ...head, [key]: null })),
        /not one of RFC 6962/,
        key,
      )
    }
    assert.throws(() => parseSignedTreeHead(log, JSON.stringify({ ...head, tree_size: -1 })), /not one of RFC 6962/)
    for (const text of ['', '[', 'null', '1']) assert.throws(() => parseSignedTreeHead(log, text), /not JSON/, text)
  })

  test(`${algorithm}: the ID of a log is the SHA-256 of its key (RFC 6962, section 3.2)`, () => {
    assert.equal(logIdOf(lab.key), createHash('sha256').update(lab.key).digest('base64'))
  })
}

test('a log may be empty', async () => {
  const lab = await startCertificateLog([], { now: () => HEAD_TIME })
  const texts = ['checkpoint', 'ct/v1/get-sth'].map(async (path) => (await fetch(`${lab.url}${path}`)).text())
  const [checkpoint = '', treeHead = ''] = await Promise.all(texts)
  await lab.close()
  const log = logOfLab(lab, 'tiles')
  assert.equal(parseCheckpoint(log, checkpoint).size, 0)
  assert.equal(parseSignedTreeHead(log, treeHead).size, 0)
})

test('a log key is ECDSA with P-256, or RSA with at least 2,048 bits (RFC 6962, section 2.1.4)', () => {
  const der = ({ publicKey }: { publicKey: KeyObject }): Buffer => publicKey.export({ type: 'spki', format: 'der' })
  for (const key of [
    generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
    generateKeyPairSync('rsa', { modulusLength: 2_040 }),
    generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }),
    generateKeyPairSync('ed25519'),
  ])
    assert.throws(() => requireLogKey(der(key)), /neither ECDSA with P-256 nor RSA/)
  assert.throws(() => requireLogKey(Buffer.from('no key')), /neither ECDSA with P-256 nor RSA/)
})
