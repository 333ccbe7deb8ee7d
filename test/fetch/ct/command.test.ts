/** `domaindex fetch ct` over logs of the lab, and the list of logs. */

import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { readLogList } from '../../../src/fetch/ct/log-list.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import { folderOf } from '../../cli/run.ts'
import { logListOf, signedList } from './lists.ts'
import { labEntries, openFollower } from './world.ts'

test('every log of the list is read once, its names are stored and written, and the status tells how far', async (t) => {
  const [tiles, rfc6962, retired] = [
    await openFollower(t, await labEntries(500)),
    await openFollower(t, await labEntries(300)),
    await openFollower(t, await labEntries(3)),
  ]
  const { run, path, withStore } = folderOf(t)
  const list = logListOf([
    { lab: tiles.lab, kind: 'tiles' },
    { lab: rfc6962.lab, kind: 'rfc6962', state: 'qualified' },
    { lab: retired.lab, kind: 'rfc6962', state: 'retired' },
  ])
  writeFileSync(path('list.json'), list)
  const env = { DOMAINDEX_CT_START_BACK: '200' }
  const first = await run(
    ['fetch', 'ct', '--list', path('list.json'), '--once', '--names', path('names.txt'), '--json'],
    { env },
  )
  assert.deepEqual([first.code, first.stderr], [0, ''])
  const { logs } = JSON.parse(first.stdout) as { logs: { url: string; entries: number; problem: null }[] }
  assert.deepEqual(
    logs.map(({ url, entries, problem }) => [url, entries, problem]).sort(),
    [
      [tiles.lab.url, 200, null],
      [rfc6962.lab.url, 200, null],
    ].sort(),
  )
  assert.equal(retired.lab.requests.length, 0)
  const written = readFileSync(path('names.txt'), 'utf8').trim().split('\n')
  assert.deepEqual([...new Set(written)].length, 6)
  assert.notEqual(await withStore(({ facts }) => facts.lookup(parseName('shop.example')!)), null)
  const again = await run(['fetch', 'ct', '--list', path('list.json'), '--once'])
  assert.match(again.stdout, /: entries 0, new 0\n/)
  tiles.lab.faults = { wrongKey: true }
  const lie = await run(['fetch', 'ct', '--list', path('list.json'), '--once', '--log', tiles.lab.url])
  assert.deepEqual([lie.code, /left out: the signature of its tree head is wrong/.test(lie.stdout)], [1, true])
  const status = await run(['fetch', 'ct', '--status', '--json'])
  const states = JSON.parse(status.stdout).logs as {
    url: string
    position: number
    size: number
    problem: string | null
  }[]
  assert.deepEqual(
    states.map(({ url, position, size, problem }) => [url, position, size, problem]).sort(),
    [
      [tiles.lab.url, 500, 500, 'the signature of its tree head is wrong'],
      [rfc6962.lab.url, 300, 300, null],
    ].sort(),
  )
  assert.match(
    (await run(['fetch', 'ct', '--status'])).stdout,
    /500 of 500 .*left out: the signature of its tree head is wrong/,
  )
  tiles.lab.faults = {}
  const back = await run(['fetch', 'ct', '--list', path('list.json'), '--once', '--readmit'], { env })
  assert.deepEqual([back.code, back.stderr], [0, ''])
})

test('a single log is followed with a key of its own, over either interface', async (t) => {
  const { lab } = await openFollower(t, await labEntries(40))
  const { run, path } = folderOf(t)
  const key = createPublicKey({ key: lab.key, format: 'der', type: 'spki' }).export({ format: 'pem', type: 'spki' })
  writeFileSync(path('log.pem'), key)
  const { code, stdout, stderr } = await run(['fetch', 'ct', '--log', lab.url, '--log-key', path('log.pem'), '--once'])
  assert.deepEqual([code, stdout, stderr], [0, `${lab.url}: entries 40, new 6\n`, ''])
  assert.equal((await run(['fetch', 'ct', '--log-key', 'x'])).code, 2)
  writeFileSync(path('list.json'), logListOf([]))
  for (const [args, message] of [
    [['--list', path('list.json')], /lists no log that is usable or qualified\n$/],
    [['--list', path('none.json')], /none\.json cannot be read: no such file or directory\n$/],
    [['--list', path('log.pem')], /is not a list of certificate logs \(version 3\)\n$/],
    [['--log', lab.url, '--log-key', path('none')], /none cannot be used as a public key/],
    [['--log', 'ftp://x', '--log-key', path('log.pem')], /ftp:\/\/x is not the URL of a log/],
  ] as const) {
    const failed = await run(['fetch', 'ct', '--once', ...args])
    assert.deepEqual([failed.code, message.test(failed.stderr)], [1, true], failed.stderr)
  }
})

test('a list with a wrong signature, or with an ID that is not that of its key, is rejected as a whole', async (t) => {
  const { lab, client } = await openFollower(t, await labEntries(1))
  const { path } = folderOf(t)
  const list = logListOf([{ lab, kind: 'tiles' }])
  const { pem, signature } = signedList(list)
  writeFileSync(path('list.json'), list)
  writeFileSync(path('key.pem'), pem)
  writeFileSync(path('list.sig'), signature)
  assert.equal((await readLogList(path('list.json'), path('key.pem'), client.get)).length, 1)
  writeFileSync(path('list.json'), `${list} `)
  await assert.rejects(
    readLogList(path('list.json'), path('key.pem'), client.get),
    /is not signed by the key in .*key\.pem: nothing of it is used/,
  )
  writeFileSync(path('list.json'), list.replace(/"log_id":"...../, '"log_id":"AAAAA'))
  await assert.rejects(readLogList(path('list.json'), null, client.get), /has a log whose ID is not that of its key/)
  writeFileSync(path('list.json'), list.replace(/"key":"[^"]+"/, '"key":5'))
  await assert.rejects(readLogList(path('list.json'), null, client.get), /has a log without a key or a URL: Lab tiles/)
  await assert.rejects(readLogList(`${lab.url}none`, null, client.get), /\/log\/none does not exist/)
})
