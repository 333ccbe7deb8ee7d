/** The two ways of docs/api.md to verify the signature of a message, as the document has them. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeWebhookKey, webhookSecretText } from '../../src/delivery/webhook-key.ts'
import { signedHeaders } from '../../src/delivery/webhook-message.ts'

const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
const [, script] = /```js\n(import \{ createHmac[\s\S]*?)```/.exec(page)!
const [, shell] = /```sh\n(KEY=\$\(printf[\s\S]*?)```/.exec(page)!

const key = makeWebhookKey()
const secret = webhookSecretText(key)
const body = '{"type":"watch.event","data":{"name":"bücher.example"}}'
const sign = (at: number) => signedHeaders({ id: 'evt_1', body }, key, at)

test('the script accepts a genuine message, and rejects an altered one, another secret and an old one', async () => {
  const source = `${script}\nexport { isGenuine }`
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(source)}`)
  const now = Math.floor(Date.now() / 1_000)
  const headers = sign(now)
  assert.equal(isGenuine(secret, headers, body), true)
  assert.equal(
    isGenuine(secret, { ...headers, 'webhook-signature': `v1,other ${headers['webhook-signature']}` }, body),
    true,
  )
  assert.equal(isGenuine(secret, headers, `${body} `), false)
  assert.equal(isGenuine(webhookSecretText(makeWebhookKey()), headers, body), false)
  assert.equal(isGenuine(secret, sign(now - 301), body), false)
})

test('the shell commands print the signature', { skip: process.platform === 'win32' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-verify-'))
  try {
    writeFileSync(join(folder, 'body.json'), body)
    const headers = sign(1_795_176_009)
    const env = { ...process.env, SECRET: secret, ID: headers['webhook-id'], TIME: headers['webhook-timestamp'] }
    const printed = execFileSync('sh', ['-c', shell!], { cwd: folder, env }).toString().trim()
    assert.equal(`v1,${printed}`, headers['webhook-signature'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
