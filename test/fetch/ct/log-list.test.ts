/** Lists of certificate logs that are hostile: too large, too deep, or with addresses inside of this network. */

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type LogServer, listenAsLog } from '../../../lab/certificate-log/listen.ts'
import { openLogClient } from '../../../src/fetch/ct/log/log-client.ts'
import { readLogList } from '../../../src/fetch/ct/log-list.ts'
import { publicOnly } from '../../../src/fetch/vetted-target.ts'
import { InputError } from '../../../src/import/stream/input-error.ts'
import { logListOf } from './lists.ts'
import { openFollower } from './world.ts'

const folder = mkdtempSync(join(tmpdir(), 'domaindex-log-list-'))
const file = join(folder, 'list.json')
const client = openLogClient('domaindex/test', new AbortController().signal)
let text = ''
let server: LogServer
let url = ''

before(async () => {
  server = await listenAsLog((_request, response) => response.end(text))
  url = `${server.url}list.json`
})
after(async () => {
  await client.close()
  await server.close()
  rmSync(folder, { recursive: true })
})

/** Reads a text as a list from a file, and from its URL. */
async function reading(list: string) {
  text = list
  writeFileSync(file, list)
  const [fromFile, fromUrl] = await Promise.allSettled([
    readLogList(file, null, client.get),
    readLogList(url, null, client.get),
  ])
  return { fromFile, fromUrl }
}

function assertRefused(result: PromiseSettledResult<unknown>, message: RegExp): void {
  assert.equal(result.status, 'rejected')
  assert.ok(result.reason instanceof InputError, String(result.reason))
  assert.match(result.reason.message, message)
}

test('a downloaded list may name only public addresses and the ports of the web; a list in a file any', async (t) => {
  const { lab } = await openFollower(t, [])
  for (const address of [
    'http://127.0.0.1:8080/log/',
    'https://10.1.2.3/log/',
    'https://[::1]/log/',
    'https://[::ffff:192.168.0.1]/',
    'https://169.254.169.254/',
    'https://log.example:8443/',
    'http://2130706433/',
  ]) {
    const { fromFile, fromUrl } = await reading(logListOf([{ lab: { ...lab, url: address }, kind: 'tiles' }]))
    assert.equal(fromFile.status, 'fulfilled', address)
    assertRefused(fromUrl, /which is no public address, or a port other than 80 and 443: a list in a file may name it$/)
  }
  const { fromUrl } = await reading(logListOf([{ lab: { ...lab, url: 'https://log.example/2026/' }, kind: 'tiles' }]))
  assert.equal(fromUrl.status, 'fulfilled')
})

test('a name that leads to this machine is not connected to', async (t) => {
  const vetted = openLogClient('domaindex/test', new AbortController().signal, publicOnly())
  t.after(() => vetted.close())
  const { port } = new URL(server.url)
  assert.notEqual(await client.get(`http://localhost:${port}/`, 1_000_000), null)
  await assert.rejects(vetted.get(`http://localhost:${port}/`, 1_000_000), {
    name: 'LogUnavailable',
    message: `localhost:${port} cannot be read: it has no public address`,
  })
})

test('a list has at most 16 MiB and 1,000 logs, whose keys are not read beyond that', async (t) => {
  const large = await reading(`${' '.repeat(16_777_217)}{}`)
  assertRefused(large.fromFile, /has more than 16777216 bytes/)
  assertRefused(large.fromUrl, /16777216 bytes/)
  const { lab } = await openFollower(t, [])
  const log = { lab: { ...lab, url: 'https://log.example/' }, kind: 'tiles' as const }
  const list = JSON.parse(logListOf(Array.from({ length: 1_001 }, () => log)))
  list.operators[0].tiled_logs[1_000].key = 'no key'
  const { fromFile, fromUrl } = await reading(JSON.stringify(list))
  for (const result of [fromFile, fromUrl]) assertRefused(result, /has more than 1000 logs$/)
})

test('a device without end is no list', { skip: !existsSync('/dev/zero') }, async () => {
  await assert.rejects(readLogList('/dev/zero', null, client.get), /has more than 16777216 bytes/)
})

test('what is no list is refused, however deep or strange', async () => {
  for (const list of [
    `${'[{"operators":'.repeat(100_000)}1${'}]'.repeat(100_000)}`,
    '{"operators":{}}',
    '{"operators":[null,1,"x",{"logs":{"a":1},"tiled_logs":"x"},{"logs":[null,[],{"state":{"usable":1}}]}]}',
    `{"operators":[{"logs":[{"state":{"usable":{}},"description":${JSON.stringify('x'.repeat(1_000_000))}}]}]}`,
    '{"operators":[{"logs":[{"state":{"usable":{}},"key":"","url":"javascript:alert(1)"}]}]}',
    '\u0000',
  ]) {
    const { fromFile, fromUrl } = await reading(list)
    for (const result of [fromFile, fromUrl])
      assertRefused(result, /is not a list|lists no log|without a key or a URL|ID is not that of its key/)
    assert.ok(String((fromFile as PromiseRejectedResult).reason.message).length < 500)
  }
})
