/** `domaindex fetch axfr` and the import of what it fetched. */

import assert from 'node:assert/strict'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { KNOWN_ZONES } from '../../../src/fetch/axfr/known-zones.ts'
import { parseTransferArgument, transferTargetOf } from '../../../src/fetch/axfr/targets.ts'
import { parseTsigKey } from '../../../src/fetch/axfr/tsig.ts'
import { importZone } from '../../../src/registrations/zone/import-zone.ts'
import { folderOf, outcomeOf } from '../../cli/run.ts'
import { makeWorld, day as registeredOn } from '../../registrations/world.ts'
import { holdTransfer, KEY, LAB_KEY, labels, openTransfers } from './world.ts'

test('the command transfers with a key from a file, the inbox takes the zone, and no output contains the secret', async (t) => {
  const secret = KEY.secret.toString('base64')
  const { server, clock } = await openTransfers(
    t,
    { 'lab.test': { serial: 17, delegations: labels(5) } },
    { key: LAB_KEY },
  )
  clock.now = Math.floor(Date.now() / 1000)
  const { run, path } = folderOf(t)
  const zone = `lab.test@127.0.0.1:${server.port}`
  writeFileSync(path('tsig.key'), `hmac-sha256:lab-key.:${secret}\n`, { mode: 0o644 })
  const open = await run(['fetch', 'axfr', zone, '--tsig-file', path('tsig.key')])
  assert.deepEqual([open.code, open.stdout], [1, ''])
  assert.match(
    open.stderr,
    /tsig\.key cannot be used: others than its owner can read it: change that with chmod 600\n$/,
  )
  chmodSync(path('tsig.key'), 0o600)
  const fetched = await run(['fetch', 'axfr', zone, '--tsig-file', path('tsig.key')])
  const [, file = ''] =
    /^lab\.test: (lab\.test-\d{4}-\d\d-\d\d\.zone\.gz), names 5, serial 17\n$/.exec(fetched.stdout) ?? []
  assert.deepEqual([fetched.code, fetched.stderr, file.length > 0], [0, '', true])
  const again = await run(['fetch', 'axfr', zone, '--tsig-file', path('tsig.key'), '--json'])
  assert.deepEqual(JSON.parse(again.stdout), { zones: [{ zone: 'lab.test', outcome: 'there', file }] })
  const imported = await run(['import', '--inbox']) // at once: the file was complete when it arrived
  assert.equal(imported.code, 0)
  assert.match(imported.stdout, /: zone:lab\.test \S+, names 5, registered 0, dropped 0, unusable 0, new 5\n/)
  const unsigned = await run(['fetch', 'axfr', `other.test@127.0.0.1:${server.port}`])
  assert.equal(unsigned.code, 1)
  assert.match(unsigned.stderr, /^other\.test: 127\.0\.0\.1: the server does not serve this zone/)
  for (const [text, message] of [
    [`hmac-md5:lab-key:${secret}`, /ALGORITHM is one of hmac-sha256, hmac-sha384, hmac-sha512\n$/],
    [`hmac-sha256:lab-key:${secret}!`, /its third part is not base64\n$/],
    [`hmac-sha256:lab..key:${secret}`, /its second part is not a name\n$/],
    [secret, /a TSIG key has the form ALGORITHM:NAME:BASE64\n$/],
  ] as const) {
    writeFileSync(path('tsig.key'), text)
    const { code, stderr } = await run(['fetch', 'axfr', zone, '--tsig-file', path('tsig.key')])
    assert.deepEqual([code, message.test(stderr), stderr.includes(secret.slice(0, 12))], [1, true, false], stderr)
  }
  for (const [args, message] of [
    [[], /name the zones, or use --known/],
    [['--known', '--tsig-file', 'x'], /--tsig-file is only for named zones/],
    [['.'], /the root zone has only top-level domains, which domaindex does not store/],
    [['se@a:b:c'], /a:b:c is no server/],
    [['se@ns:0'], /ns:0 is no server/],
    [['s e'], /is not the name of a zone/],
  ] as const) {
    const { code, stderr } = await run(['fetch', 'axfr', ...args])
    assert.deepEqual([code, message.test(stderr)], [2, true], stderr)
  }
})

test('a signal stops a transfer without a trace, and an inbox that is no folder is named', async (t) => {
  const { server } = await openTransfers(t, { 'lab.test': { serial: 1, delegations: labels(1_000) } })
  const { run, start, path } = folderOf(t)
  const zone = `lab.test@127.0.0.1:${server.port}`
  const hold = holdTransfer()
  server.behaviour = hold.behaviour
  const child = start(['fetch', 'axfr', zone])
  const ended = outcomeOf(child)
  await hold.reached
  child.kill('SIGINT')
  const { signal, stdout, stderr } = await ended
  assert.deepEqual([signal, stdout, stderr], ['SIGINT', '', 'stopped; no incomplete zone is left\n'])
  assert.deepEqual(readdirSync(path('data/inbox'), { recursive: true }), ['transfers'])
  writeFileSync(path('file'), '')
  const { code, stderr: reason } = await run(['fetch', 'axfr', zone], { env: { DOMAINDEX_INBOX: path('file') } })
  assert.deepEqual([code, reason], [1, `domaindex: ${path('file/transfers')} cannot be used: not a directory\n`])
})

test('registrations and drops of a transferred zone are those of its two days', async (t) => {
  const { server, clock, fetch, target, text } = await openTransfers(t, {
    'lab.test': { serial: 1, delegations: labels(2_000) },
  })
  const { taking, registered, dropped, setTime } = await makeWorld(t)
  for (const [date, serial, delegations] of [
    ['2026-11-20', 1, labels(2_000)],
    ['2026-11-21', 2, labels(2_000, 100)],
  ] as const) {
    clock.now = Date.parse(`${date}T08:00:00Z`) / 1000
    setTime(clock.now)
    server.zones['lab.test'] = { serial, delegations }
    const [result] = await fetch([target('lab.test')])
    assert.equal(result!.outcome, 'fetched')
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(text(`lab.test-${date}.zone.gz`))
    }
    await importZone(taking, {
      path: `lab.test-${date}.zone.gz`,
      bytes: bytes(),
      day: registeredOn(date),
      zone: 'lab.test',
    })
  }
  const names = (given: string[]): string[] => given.map((label) => `${label}.lab.test`).sort()
  assert.deepEqual(await registered('2026-11-21'), names(labels(100, 2_000)))
  assert.deepEqual(await dropped('2026-11-21'), names(labels(100)))
})

test('a zone argument names the server and its port, and a known zone has its own', async () => {
  assert.deepEqual(parseTransferArgument('SE.'), { zone: 'se', server: null })
  assert.deepEqual(parseTransferArgument('co.uk@ns.example'), {
    zone: 'co.uk',
    server: { host: 'ns.example', port: null },
  })
  assert.deepEqual(parseTransferArgument('a@[2001:db8::1]:5'), { zone: 'a', server: { host: '2001:db8::1', port: 5 } })
  assert.deepEqual(parseTransferArgument('a@2001:db8::1'), { zone: 'a', server: { host: '2001:db8::1', port: null } })
  const [plain, tls] = [
    await transferTargetOf(parseTransferArgument('ch'), null, false),
    await transferTargetOf(parseTransferArgument('se@x'), KEY, true),
  ]
  assert.deepEqual(plain.servers, [{ host: 'zonedata.switch.ch', port: 53, tls: null }])
  assert.deepEqual([plain.key?.name, plain.key?.algorithm], ['tsig-zonedata-ch-public-21-01', 'hmac-sha512'])
  assert.deepEqual(tls, { zone: 'se', key: KEY, servers: [{ host: 'x', port: 853, tls: {} }] })
})

test('every known zone has servers, terms, a source, and a key that can be read', () => {
  assert.deepEqual(Object.keys(KNOWN_ZONES).sort(), ['arpa', 'ch', 'ee', 'li', 'nu', 'se'])
  for (const [zone, { servers, key, names, terms, source }] of Object.entries(KNOWN_ZONES)) {
    assert.ok(servers.length > 0 && names > 0 && terms !== '' && /^https:\/\//.test(source), zone)
    if (key !== null) assert.equal(parseTsigKey(key).secret.length, 64)
  }
})
