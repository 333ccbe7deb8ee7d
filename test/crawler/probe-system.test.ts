/** The probe system of a continuous crawl: it reports what it excludes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerAlways } from '../../lab/answer-overrides.ts'
import { startDnsServer } from '../../lab/dns.ts'
import { openProbeSystem } from '../../src/crawler/probe-system.ts'
import { makeGuard } from '../../src/probe/guard.ts'
import { rawUdp, withoutEdns } from '../probe/dns/dns-lab.ts'

test('an excluded resolver is reported, even if it failed from the start, and so is its recovery', async () => {
  const dns = [await startDnsServer({ 'zone.example': { NS: ['ns.example'] } }), await startDnsServer({})]
  const output: string[] = []
  const probeSystem = await openProbeSystem({
    servers: dns.map(({ address, port }) => ({ address, port })),
    guard: makeGuard(),
    userAgent: 'domaindex/test',
    plan: { zones: [], missingUnder: 'example', ipv4only: null, unfiltered: [], addresses: [] },
    optOut: { hasName: () => false },
    now: () => 0,
    log: (news) => void output.push(news),
  })
  dns[1]!.override(answerAlways({ A: ['192.0.2.1'] }))
  for (let looks = 0; looks < 2; looks++) assert.equal((await probeSystem.runSelfCheck()).passed, true)
  const [news] = output
  assert.match(news!, new RegExp(`^excluded: resolver 127\\.0\\.0\\.1 port ${dns[1]!.port} `))
  assert.deepEqual([output.length, probeSystem.exclusions()], [1, { resolvers: 1, ipv4: 0, ipv6: 0 }])
  dns[1]!.override(null)
  await probeSystem.runSelfCheck()
  assert.deepEqual(
    [output.slice(1), probeSystem.exclusions().resolvers],
    [['all resolvers and address families are in use again'], 0],
  )
  await probeSystem.close()
  for (const each of dns) await each.close()
})

test('a path that drops EDNS is reported once, with what to do, and no server is excluded for it', async (t) => {
  const server = await rawUdp(t, (question, from, socket) => {
    if (question[11] === 1) return
    const message = withoutEdns(question)
    message[2] = 0x80
    message[3] = 0x83
    socket.send(message, from.port, from.address)
  })
  const output: string[] = []
  const probeSystem = await openProbeSystem({
    servers: [{ address: server.address, port: server.port }],
    guard: makeGuard(),
    userAgent: 'domaindex/test',
    plan: { zones: [], missingUnder: 'example', ipv4only: null, unfiltered: [], addresses: [] },
    optOut: { hasName: () => false },
    now: () => 0,
    selfCheckTimeoutMs: 100,
    log: (news) => void output.push(news),
  })
  t.after(() => probeSystem.close())
  for (let looks = 0; looks < 2; looks++) assert.equal((await probeSystem.runSelfCheck()).passed, true)
  assert.equal(output.length, 1)
  assert.match(
    output[0]!,
    new RegExp(`^queries with EDNS get no answer from resolver 127\\.0\\.0\\.1 port ${server.port}: `),
  )
})
