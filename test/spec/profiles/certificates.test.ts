/** The certificates: who presented one, what a domain presented, and which ones name it. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { parseInstant } from '../../../src/values/time.ts'
import { look, site } from '../observations.ts'
import { makeWorld } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

const on = (day: string) => `2026-${day}T10:00:00Z`
const certificate = (digit: string, ...names: string[]) => ({
  ...{
    sha256: digit.repeat(64),
    issuer: 'CN=R11,O="An\\, authority"',
    not_before: on('01-01'),
    not_after: on('12-31'),
  },
  ...{ names, key: 'ec-p256' },
})
const OLD = certificate('a', '*.shop.example', 'shop.example')
const NEW = certificate('b', 'blog.example', 'shop.example')
const CERTIFICATE_OF_LOG = certificate('d', '*.logged.example', 'logged.example')
const with_ = (presented: object | null) => ({ web: site({ ssl: 'valid', certificate: presented }) })

before(async () => {
  await world.ingest(
    look('shop.example', with_(OLD), on('01-10')),
    look('shop.example', with_(OLD), on('02-10')),
    look('shop.example', with_(null), on('03-10')),
    look('shop.example', with_(NEW), on('04-10')),
    look('shop.example', { web: site() }, on('05-10')),
    look('blog.example', with_(NEW), on('04-11')),
  )
})

type Row = { target: string; sha256: string; first_seen: string; last_seen: string; name: string }
type Meta = { next: string | null; certificate: object; requested: string | null }
type Page = { meta: Meta; result: Row[] }

const get = (path: string, key = token, headers = {}) =>
  world.send(path, { headers: { Authorization: `Bearer ${key}`, Accept: 'application/json', ...headers } })
const pageOf = async (path: string) => (await get(path)).body as Page
const errorOf = async (path: string, key = token) => {
  const { status, body } = await get(path, key)
  return [status, (body as { error: string }).error]
}

test('a certificate has its details, and the domains that presented it with their times, in pages', async () => {
  const { meta, result } = await pageOf(`/certificate/${NEW.sha256.toUpperCase()}?limit=1`)
  assert.deepEqual(meta.certificate, { ...NEW, logged: null })
  assert.deepEqual(result, [{ target: 'blog.example', first_seen: on('04-11'), last_seen: on('04-11') }])
  const second = await pageOf(`/certificate/${NEW.sha256}?limit=1&next=${meta.next}`)
  assert.deepEqual(second.result, [{ target: 'shop.example', first_seen: on('04-10'), last_seen: on('04-10') }])
  assert.deepEqual(second.meta.certificate, { ...NEW, logged: null })
  assert.equal(second.meta.next, null)
  assert.deepEqual(await errorOf(`/certificate/${OLD.sha256}?next=${meta.next}`), [400, 'cursor_mismatch'])
})

test('an unknown certificate is no_data, and what is no fingerprint certificate_format', async () => {
  assert.deepEqual(await errorOf(`/certificate/${'c'.repeat(64)}`), [404, 'no_data'])
  assert.deepEqual(await errorOf('/certificate/abc'), [400, 'certificate_format'])
})

test('the certificates of a domain are newest first; an observation without one leaves its last time', async () => {
  const { result } = await pageOf('/domain/shop.example/certificates')
  assert.deepEqual(result, [
    { first_seen: on('04-10'), last_seen: on('04-10'), ...NEW },
    { first_seen: on('01-10'), last_seen: on('02-10'), ...OLD },
  ])
  const first = await pageOf('/domain/shop.example/certificates?limit=1')
  const second = await pageOf(`/domain/shop.example/certificates?limit=2&next=${first.meta.next}`)
  assert.deepEqual([...first.result, ...second.result], result)
})

test('certificates with the name, its wildcard or a name below it are found, whoever presented them', async () => {
  const { result } = await pageOf('/domain/shop.example/named-certificates')
  const { names: _, ...ofNew } = NEW
  assert.deepEqual(result[1], { name: 'shop.example', ...ofNew })
  const texts = ({ name, sha256 }: Row): string => `${name} ${sha256[0]}`
  assert.deepEqual(result.map(texts), ['shop.example a', 'shop.example b', '*.shop.example a'])
  const pages: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const page: Page = await pageOf(`/domain/shop.example/named-certificates?limit=1${next && `&next=${next}`}`)
    pages.push(...page.result.map(texts))
    next = page.meta.next
  }
  assert.deepEqual(pages, result.map(texts))
  const { meta: www, result: naming } = await pageOf('/domain/www.blog.example/named-certificates')
  assert.equal(www.requested, 'www.blog.example')
  assert.deepEqual(naming.map(texts), ['blog.example b'])
  assert.deepEqual(await errorOf('/domain/none.example/named-certificates'), [404, 'no_data'])
  assert.deepEqual(await errorOf('/domain/none.example/certificates'), [404, 'no_data'])
})

test('a certificate of a log is found by its names, and nobody presented it', async () => {
  const logged = { ...CERTIFICATE_OF_LOG, not_before: 0, not_after: 1 }
  await world.store.observations.addLogged([{ certificate: logged, logged_at: parseInstant(on('02-01'))! }])
  const { result } = await pageOf('/domain/logged.example/named-certificates')
  assert.deepEqual(
    result.map(({ name, sha256 }) => [name, sha256]),
    [
      ['logged.example', logged.sha256],
      ['*.logged.example', logged.sha256],
    ],
  )
  const { meta, result: presented } = await pageOf(`/certificate/${logged.sha256}`)
  assert.deepEqual([(meta.certificate as { logged: string }).logged, presented], [on('02-01'), []])
})

test('the certificates of a domain need a plan with the history, and a certificate needs none', async () => {
  const { token: free } = await world.account({ plan: 'free' })
  assert.deepEqual(await errorOf('/domain/shop.example/certificates', free), [403, 'plan_required'])
  assert.equal((await get(`/certificate/${NEW.sha256}`, free)).status, 200)
})
