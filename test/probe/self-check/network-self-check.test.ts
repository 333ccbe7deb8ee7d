/** The self-check against resolvers of the lab that die, lie and recover, and against an address family that fails. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { answerAlways, answerShare } from '../../../lab/answer-overrides.ts'
import { type DnsHeard, type LabDnsServer, startDnsServer } from '../../../lab/dns.ts'
import { LAB_SOA } from '../../../lab/dns-reply.ts'
import type { DnsTable } from '../../../lab/dns-table.ts'
import { type Lab, startLab } from '../../../lab/lab.ts'
import { observe } from '../../../src/observe/observe.ts'
import { type AddressFamilies, makeFamilyGuard } from '../../../src/probe/address-families.ts'
import { openResolver } from '../../../src/probe/dns/resolver.ts'
import { makeGuard } from '../../../src/probe/guard.ts'
import { createProber } from '../../../src/probe/probe.ts'
import { type NetworkSelfCheck, openNetworkSelfCheck } from '../../../src/probe/self-check/network-self-check.ts'
import { DEFAULT_SELF_CHECK_PLAN, parseSelfCheckPlan, type SelfCheckPlan } from '../../../src/probe/self-check/plan.ts'
import { createWebProber } from '../../../src/probe/web.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import { addressFamily, type IpAddress } from '../../../src/values/ip-address.ts'
import { parseHostName } from '../../../src/values/records/host-name.ts'

const ZONES = ['.', 'com', 'org']
const TABLE: DnsTable = Object.fromEntries(ZONES.map((zone) => [zone, { SOA: [LAB_SOA], NS: ['ns.test'] }]))
/** Milliseconds for servers that never answer, which are waited for in full. */
const PATIENCE = 300
/** Milliseconds if every server answers. */
const LONG = 1_500
const PLAN: SelfCheckPlan = {
  zones: ZONES,
  missingUnder: 'com',
  ipv4only: 'ipv4only.arpa',
  unfiltered: [],
  addresses: [],
}

/** Two resolvers, the self-check of both, and what it excludes and opens. */
async function world(t: TestContext, plan: Partial<SelfCheckPlan> = {}, count = 2, timeoutMs = LONG) {
  const received: DnsHeard[] = []
  const servers = await Promise.all(
    Array.from({ length: count }, () => startDnsServer(TABLE, (question) => received.push(question))),
  )
  const left: { servers: readonly unknown[]; families: AddressFamilies | null } = { servers: [], families: null }
  const controls = openNetworkSelfCheck({
    servers,
    plan: { ...PLAN, ...plan },
    resolver: {
      exclude(bad) {
        left.servers = bad
      },
    },
    guard: {
      setOpenFamilies(families) {
        left.families = families
      },
    },
    timeoutMs,
  })
  t.after(async () => {
    await controls.close()
    await Promise.allSettled(servers.map((server) => server.close()))
  })
  return { servers: servers as [LabDnsServer, LabDnsServer], controls, left, received }
}

const shown = ({ address, port }: LabDnsServer): string => `${address} port ${port}`

async function whyNot(controls: NetworkSelfCheck): Promise<string> {
  const verdict = await controls.check()
  return verdict.passed ? 'it sees' : verdict.reason
}

test('resolvers that return every SOA, deny made-up names and invent nothing are trusted', async (t) => {
  const { controls, left, received } = await world(t)
  assert.deepEqual(await controls.check(), { passed: true, families: { 4: true, 6: true }, excluded: [] })
  assert.deepEqual(left, { servers: [], families: { 4: true, 6: true } })
  assert.equal(received.length, 10, 'five questions each')
  const made = received.map(({ host }) => host).filter((host) => /^[\da-f]{20}\.com$/.test(host))
  assert.equal(new Set(made).size, 2)
})

for (const [what, lie, says] of [
  ['that has died', answerAlways('silent'), 'does not answer'],
  ['that denies everything', answerAlways('nxdomain'), 'returns no SOA for the root'],
  ['that fails at everything', answerAlways('servfail'), 'returns no SOA for the root'],
  ['that refuses queries', answerAlways('refused'), 'returns no SOA for the root'],
  ['that sends referrals', answerAlways('lame'), 'returns no SOA for the root'],
  [
    'that denies only one zone',
    (host: string) => (host === 'org' ? ('nxdomain' as const) : undefined),
    'returns no SOA for org',
  ],
  [
    'that answers for missing names',
    (host: string) => (host in TABLE ? undefined : { A: ['192.0.2.1'] }),
    'reports that a made-up name under com exists',
  ],
  [
    'that fails for missing names',
    (host: string) => (host in TABLE ? undefined : ('servfail' as const)),
    'does not report a made-up name under com as missing',
  ],
  [
    'that invents AAAA records',
    (host: string) => (host === 'ipv4only.arpa' ? { AAAA: ['64:ff9b::c000:aa'] } : undefined),
    'synthesizes AAAA records (DNS64): use another resolver',
  ],
] as const) {
  test(`a resolver ${what} is reported and excluded, and without another one the check fails`, async (t) => {
    const { servers, controls, left } = await world(t, {}, 2, what === 'that has died' ? PATIENCE : LONG)
    const [bad, good] = servers
    bad.override(lie)
    const why = `resolver ${shown(bad)} ${says}`
    assert.deepEqual(await controls.check(), { passed: true, families: { 4: true, 6: true }, excluded: [why] })
    assert.deepEqual(left.servers, [bad])
    good.override(lie)
    assert.deepEqual(await controls.check(), { passed: false, reason: `${why}; resolver ${shown(good)} ${says}` })
    assert.deepEqual(left.servers, servers)
  })
}

test('a resolver that fails between two checks invalidates the results in between, once', async (t) => {
  const { servers, controls } = await world(t)
  assert.equal((await controls.check()).passed, true)
  servers[1].override(answerAlways('nxdomain'))
  const why = `resolver ${shown(servers[1])} returns no SOA for the root`
  assert.equal(await whyNot(controls), why)
  assert.deepEqual(await controls.check(), { passed: true, families: { 4: true, 6: true }, excluded: [why] })
})

test('a resolver that recovers is queried again', async (t) => {
  const { servers, controls, left } = await world(t, {}, 1)
  for (let round = 0; round < 2; round++) {
    servers[0].override(answerAlways('nxdomain'))
    assert.match(await whyNot(controls), /returns no SOA/)
    servers[0].override(null)
    assert.deepEqual(await controls.check(), { passed: true, families: { 4: true, 6: true }, excluded: [] })
    assert.deepEqual(left.servers, [])
  }
})

test('a resolver that denies a fifth of all names, but none of the zones, is not detected by control questions', async (t) => {
  const { servers, controls } = await world(t, {}, 1)
  const lie = answerShare(0.2, 'nxdomain')
  servers[0].override((host) => (host in TABLE ? undefined : lie(host)))
  assert.equal((await controls.check()).passed, true)
})

test('without a resolver, or without one that listens, the check fails', async (t) => {
  const { controls } = await world(t, {}, 0)
  assert.equal(await whyNot(controls), 'no resolver is configured')
  const removed = await world(t, {}, 1)
  await removed.servers[0].close()
  assert.equal(await whyNot(removed.controls), `resolver ${shown(removed.servers[0])} does not answer`)
})

/** A listener that accepts connections until it is told to refuse them. */
async function place(t: TestContext, address: string) {
  let taken = 0
  const server = createServer((socket) => {
    taken++
    socket.on('error', () => {}).resume()
  })
  const listen = async (port: number) => void (await once(server.listen(port, address), 'listening'))
  const refuse = () => new Promise((resolve) => server.close(resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  t.after(() => refuse())
  return { address: address as IpAddress, port, refuse, taken: () => taken }
}

test('one address of a family is enough, another one each time, with one connection per check', async (t) => {
  const places = [await place(t, '127.0.0.1'), await place(t, '127.0.0.2'), await place(t, '127.0.0.3')]
  const { controls } = await world(t, { addresses: places })
  for (const _ of places) assert.equal((await controls.check()).passed, true)
  assert.deepEqual(
    places.map(({ taken }) => taken()),
    [1, 1, 1],
  )
  await places[0]!.refuse()
  await places[1]!.refuse()
  for (const _ of places) assert.equal((await controls.check()).passed, true)
  await places[2]!.refuse()
  const why = await whyNot(controls)
  assert.match(why, /^no control address of any family can be reached: .* DOMAINDEX_CRAWL_SELF_CHECK to /)
  for (const advice of why.matchAll(/addresses=\S*[^,\s]/g)) {
    const plan = parseSelfCheckPlan(advice[0].replace(/\[ADDRESS\]/g, '[2001:db8::1]').replace(/ADDRESS/g, '192.0.2.1'))
    assert.notEqual(plan, undefined, 'what it says may be set')
  }
})

test('a family that was never reached is in order', async (t) => {
  const fourth = await place(t, '127.0.0.1')
  const never = { port: (await place(t, '127.0.0.2')).port, address: '::1' as IpAddress }
  const one = await world(t, { addresses: [fourth, never] })
  assert.deepEqual(await one.controls.check(), { passed: true, families: { 4: true, 6: false }, excluded: [] })
  assert.deepEqual(one.left.families, { 4: true, 6: false })
})

test('the plan is parsed from a text, part by part', () => {
  assert.deepEqual(parseSelfCheckPlan(''), DEFAULT_SELF_CHECK_PLAN)
  assert.deepEqual(parseSelfCheckPlan('missing=none  zones=.,Example'), {
    ...DEFAULT_SELF_CHECK_PLAN,
    zones: ['.', 'example'],
    missingUnder: null,
  })
  const addresses = 'addresses=192.0.2.1:53,[2001:db8::1]:443'
  assert.deepEqual(parseSelfCheckPlan(`ipv4only=only4.example zones=none unfiltered=Blocked.example ${addresses}`), {
    zones: [],
    missingUnder: 'com',
    ipv4only: 'only4.example',
    unfiltered: ['blocked.example'],
    addresses: [
      { address: '192.0.2.1', port: 53 },
      { address: '2001:db8::1', port: 443 },
    ],
  })
  for (const text of [
    'x',
    'zones',
    'zones=',
    'zones=a..b',
    'missing=a b',
    'addresses=example.com',
    'zones=a zones=b',
  ]) {
    assert.equal(parseSelfCheckPlan(text), undefined, text)
  }
})

test('by default, root servers and zones of several operators are queried', () => {
  for (const which of [4, 6]) {
    assert.equal(DEFAULT_SELF_CHECK_PLAN.addresses.filter(({ address }) => addressFamily(address) === which).length, 13)
  }
  for (const zone of DEFAULT_SELF_CHECK_PLAN.zones) assert.equal(parseHostName(zone), zone)
})

/** The crawl of the lab as in the service, with control questions that the lab can answer. */
async function labWorld(t: TestContext, lab: Lab) {
  const servers = lab.resolvers.map(({ address, port }) => ({ address, port }))
  const resolver = await openResolver({ servers, timeoutMs: PATIENCE, retryDelayMs: 20 })
  const guard = makeFamilyGuard(makeGuard({ portMappings: lab.portMappings }))
  const web = createWebProber({ resolver, guard, roots: [lab.root], userAgent: 'domaindex/test' })
  const crawler = createProber({ resolver, web, now: () => 0 })
  const controls = openNetworkSelfCheck({ servers, plan: lab.selfCheckPlan, resolver, guard, timeoutMs: PATIENCE })
  t.after(async () => {
    await crawler.close()
    await controls.close()
    await lab.close()
  })
  const visit = async (name: string) => observe(await crawler.probe(parseName(name)!))
  return { controls, visit }
}

test('if IPv6 fails, the check reports it, and names without IPv4 addresses are no longer probed', async (t) => {
  const lab = await startLab()
  const { controls, visit } = await labWorld(t, lab)
  if (!lab.portMappings.some(({ address }) => address === '::1')) return t.skip('this computer has no IPv6')
  assert.deepEqual(await controls.check(), { passed: true, families: { 4: true, 6: true }, excluded: [] })
  assert.equal((await visit('ipv6-only.example')).web?.has_website, true)
  await lab.disconnectFamily(6)
  assert.equal((await visit('ipv6-only.example')).web?.has_website, false, 'before it is noticed')
  assert.equal(await whyNot(controls), 'control addresses over IPv6 are no longer reachable')
  assert.deepEqual(await controls.check(), { passed: true, families: { 4: true, 6: false }, excluded: [] })
  assert.equal((await visit('ipv6-only.example')).web, null)
  assert.equal((await visit('both-families.example')).web?.has_website, true)
})

test('while a resolver of the lab dies, denies or fails, no probe denies or fails anything', async (t) => {
  const lab = await startLab()
  const { controls, visit } = await labWorld(t, lab)
  const names = ['ipv4-only.example', 'does-not-exist.example', 'servfail.example', 'www-only.example']
  const truth = await Promise.all(names.map(visit))
  assert.equal((await controls.check()).passed, true)
  for (const output of ['silent', 'nxdomain', 'servfail'] as const) {
    lab.resolvers[0].override(answerAlways(output))
    const seen = [...(await Promise.all(names.map(visit)))]
    assert.equal((await controls.check()).passed, false)
    assert.equal((await controls.check()).passed, true)
    seen.push(...(await Promise.all(names.map(visit))))
    for (const { domain, dns, web } of seen) {
      const { dns: right, web: shownThen } = truth.find((each) => each.domain === domain)!
      if (dns !== null) assert.deepEqual(dns.status, right!.status, `${output}: ${domain}`)
      if (web !== null) assert.deepEqual(web, shownThen, `${output}: ${domain}`)
    }
    lab.resolvers[0].override(null)
    assert.equal((await controls.check()).passed, true)
    assert.deepEqual(await Promise.all(names.map(visit)), truth)
  }
})
