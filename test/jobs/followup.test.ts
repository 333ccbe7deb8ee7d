/** Follow-up files: their columns, and the crawl requests for their names. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileName } from '../../src/jobs/file-store/file-store.ts'
import { buildFollowup, requestFollowupProbes } from '../../src/jobs/followup.ts'
import type { BuildContext } from '../../src/jobs/publish.ts'
import { buildSnapshots } from '../../src/jobs/snapshot.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { addDays } from '../../src/values/time.ts'
import { assertWhole, fetchFile, post } from '../spec/files/files.ts'
import { look, NXDOMAIN, ok, SERVFAIL, site } from '../spec/observations.ts'
import { makeWorld, type World } from '../spec/world.ts'
import { DAY, makeDaily, runOf, some, textOf } from './built.ts'

const HEADER =
  'domain,has_website,redirect_to_domain,redirect_target,mx,mail_servers,ssl,ip,social_networks,social_accounts'
const FILE = fileName('followup-7', DAY)

function makeFollowup(
  { fileStore, store, clock }: Pick<World, 'fileStore' | 'store' | 'clock'>,
  given: Partial<BuildContext> = {},
  after: 7 | 30 = 7,
) {
  const { observations: frontier, crawlRequests } = store
  return buildFollowup(DAY, after, { fileStore, observations: frontier, crawlRequests, now: clock.now }, runOf(given))
}

function account(network: string, username: string) {
  return { network, type: network, username, url: `https://${network}.com/${username}` }
}

test('a row contains the website, mail servers by priority, certificate, addresses and accounts', async () => {
  const world = await makeWorld()
  const accounts = [account('x', 'shop'), account('facebook', 'shop,"inc"')]
  const mx = (priority: number, mail_server: string) => ({ priority, mail_server })
  await world.ingest(
    look('all.example', {
      dns: ok({
        A: ['192.0.2.1'],
        AAAA: ['2001:db8::1'],
        MX: [mx(20, 'b.example'), mx(10, 'c.example'), mx(10, 'a.example')],
      }),
      web: site({ ssl: 'valid', social_accounts: accounts }),
    }),
    look('gone.example', { dns: NXDOMAIN }),
    look('failing.example', { dns: SERVFAIL }),
    look('moved.example', {
      dns: ok({ A: ['192.0.2.1'], AAAA: [], MX: [] }),
      web: site({ has_website: false, redirects_to: 'all.example', ssl: 'invalid' }),
    }),
    look('named.example'),
    look('nomail.example', { dns: ok({ MX: [mx(0, '.')] }) }),
  )
  const names = ['all', 'failing', 'gone', 'moved', 'named', 'nomail', 'unknown'].map((word) => `${word}.example`)
  await makeDaily(world, DAY, names)
  const { manifest } = await makeFollowup(world)
  const rows = [
    HEADER,
    'all.example,yes,no,,yes,a.example c.example b.example,valid,both,facebook x,"https://x.com/shop https://facebook.com/shop,""inc"""',
    'failing.example,no,no,,no,,nocert,servfail,,',
    'gone.example,no,no,,no,,nocert,nxdomain,,',
    'moved.example,no,yes,all.example,no,,invalid,v4only,,',
    'named.example,no,no,,no,,nocert,,,',
    'nomail.example,no,no,,no,,nocert,,,', // a null MX (RFC 7505)
    'unknown.example,no,no,,no,,nocert,,,',
  ]
  assert.equal(await textOf(world, FILE), `${rows.join('\n')}\n`)
  assert.deepEqual([manifest.rows, manifest.first, manifest.last], [7, names[0], names[6]])
})

test('the enriched snapshot has the same values in the columns that both files have', async () => {
  const world = await makeWorld()
  const MX = [{ priority: 5, mail_server: 'in,"side.example' }]
  await world.ingest(
    look('a.example', { dns: ok({ A: ['192.0.2.1'], MX: [...MX, { priority: 0, mail_server: 'z.example' }] }) }),
    look('b.example', { dns: ok({ A: [], MX: [{ priority: 0, mail_server: '.' }] }), web: site({ ssl: 'invalid' }) }),
    look('c.example', { dns: NXDOMAIN }),
    look('d.example', { web: site({ has_website: false, redirects_to: 'a.example' }) }),
    look('e.example'),
  )
  await makeDaily(
    world,
    DAY,
    ['a', 'b', 'c', 'd', 'e'].map((word) => `${word}.example`),
  )
  await makeFollowup(world)
  const { fileStore, store } = world
  const build = { fileStore, listing: store.listing, date: DAY, keepCount: 1 }
  const [, enriched] = await buildSnapshots(build, runOf())
  const followup = (await textOf(world, FILE)).replace(/,(social_networks)?,(social_accounts)?$/gm, '')
  assert.equal(followup, await textOf(world, enriched!.name))
})

test('rows with facts older than 24 hours are counted, and so are rows of names that were never probed', async () => {
  const world = await makeWorld()
  const at = (hours: number) => new Date((world.clock.now - hours * 3600) * 1000).toISOString()
  const dns = ok({ A: [] })
  await world.ingest(
    look('a.example', { dns }, at(1)),
    look('b.example', { dns }, at(24)),
    look('c.example', { dns }, at(25)),
  )
  await makeDaily(world, DAY, ['a.example', 'b.example', 'c.example', 'd.example'])
  const { manifest } = await makeFollowup(world)
  assert.equal(manifest.older_than_24h, 2)
  assert.equal(manifest.held, null)
})

test('the names of a day have crawl requests, until the file is written', async () => {
  const world = await makeWorld()
  const names = some(2_500)
  await makeDaily(world, DAY, names)
  const { fileStore, store } = world
  assert.equal(await requestFollowupProbes(DAY, { fileStore, crawlRequests: store.crawlRequests }, runOf()), 2_500)
  assert.equal(await requestFollowupProbes(DAY, { fileStore, crawlRequests: store.crawlRequests }, runOf()), 2_500)
  assert.equal(await store.crawlRequests.count('followup'), 2_500)
  await store.crawlRequests.add('followup', ['other.example' as DomainName])
  await makeFollowup(world)
  assert.equal(await store.crawlRequests.count('followup'), 1)
})

test('a forgotten name is in no follow-up file', async () => {
  const world = await makeWorld()
  await makeDaily(world, DAY, some(3))
  await world.store.observations.forget('name000000.example' as DomainName)
  const { manifest } = await makeFollowup(world)
  assert.deepEqual([manifest.rows, manifest.first], [2, 'name000001.example'])
})

test('/daily with followup sends the built files for 7 and 30 days', async () => {
  const world = await makeWorld()
  const { token } = await world.account({ periods: ['premium:2026-01-01..'] })
  await makeDaily(world, DAY, some(3_000))
  await makeFollowup(world)
  const ask = (followup: number) => fetchFile(world, '/v1.0/daily', post({ token, date: DAY, followup }))
  const fetched = await ask(7)
  assertWhole(fetched, fetched.bytes, `attachment; filename="${DAY}.txt.gz"; filename*=UTF-8''${FILE}`)
  assert.equal((await textOf(world, FILE)).split('\n').length, 3_002)
  assert.equal((await ask(30)).status, 404)
  await makeFollowup(world, {}, 30)
  assert.equal((await ask(30)).status, 200)
})

test('a day without a file, or with a held one, has no follow-up file', async () => {
  const world = await makeWorld()
  await assert.rejects(makeFollowup(world), /^BuildFault: there is no daily file of 2026-11-19: build it first$/)
  for (let before = 1; before <= 14; before++) await makeDaily(world, addDays(DAY, -before), some(10))
  await makeDaily(world, DAY, some(1))
  await assert.rejects(makeFollowup(world), /the daily file of 2026-11-19 is held \(1 rows.*\): release it first$/)
})

test('if a follow-up build is cancelled, the former file stays', async () => {
  const world = await makeWorld()
  await makeDaily(world, DAY, some(3))
  await makeFollowup(world)
  await assert.rejects(makeFollowup(world, { signal: AbortSignal.abort() }), /abort/)
  assert.equal((await world.fileStore.manifest(FILE))!.revision, 1)
  world.clock.now += 60
  const { manifest } = await makeFollowup(world)
  assert.deepEqual([manifest.revision, manifest.generated], [2, world.clock.now])
})

test('if a follow-up file cannot be written, no file stays open', async () => {
  const world = await makeWorld()
  await makeDaily(world, DAY, some(3))
  const { fileStore } = world
  const open = new Set()
  const counting: World['fileStore'] = {
    ...fileStore,
    publish: () => Promise.reject(new Error('the disk is full')),
    async open(name) {
      const opened = await fileStore.open(name)
      if (opened === null) return null
      open.add(opened)
      return { ...opened, close: () => opened.close().finally(() => open.delete(opened)) }
    },
  }
  await assert.rejects(makeFollowup({ ...world, fileStore: counting }), /the disk is full/)
  assert.equal(open.size, 0)
})
