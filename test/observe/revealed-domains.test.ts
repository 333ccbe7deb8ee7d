/** The domains that a probe reveals. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { observe } from '../../src/observe/observe.ts'
import {
  MAX_REVEALED_DOMAINS,
  REVEALING_SOURCES,
  type RevealingSource,
  revealedDomains,
} from '../../src/observe/revealed-domains.ts'
import type { ProbeResult, RedirectChain, StartPageLink } from '../../src/probe/probe-result.ts'
import { named } from '../probe/internet.ts'

const anchor = (target: string): StartPageLink => ({ from: 'anchor', name: '', target })

function chain(links: readonly StartPageLink[], ...targets: string[]): RedirectChain {
  const urls = ['http://shop.own.example/', ...targets]
  const hops = urls.map((url, index) => ({
    url,
    status: index < targets.length ? 301 : 200,
    to: urls[index + 1] ?? null,
    by: index < targets.length ? ('location' as const) : null,
  }))
  return { hops, end: 'answered', page: { base: 'https://own.example/a/', links, text: [] } }
}

const certificate = (...names: string[]) => ({
  ...{ sha256: '', issuer: '', not_before: 0, not_after: 0, key: '' },
  names,
})

function probed(web: Partial<{ bare: RedirectChain; www: RedirectChain }> = {}): ProbeResult {
  const records = (...found: (string | { priority: number; mail_server: string })[]) => ({
    outcome: 'records' as const,
    records: found,
    aliases: [],
  })
  return {
    domain: named('shop.own.example'),
    at: 1_800_000_000,
    dns: {
      A: { outcome: 'records', records: ['192.0.2.1'], aliases: ['edge.cdn.test', 'x.own.example'] },
      AAAA: { outcome: 'failed', why: 'timeout' },
      NS: records('ns1.dns-a.test', 'ns2.dns-a.test', 'ns.own.example'),
      MX: records({ priority: 1, mail_server: 'mx.mail.co.uk' }),
    },
    web: { bare: chain([]), www: null, certificate: { kind: 'none' }, ...web },
  }
}

const revealed = (result: ProbeResult, ...sources: RevealingSource[]): string[] =>
  revealedDomains(result, observe(result), sources)

test('each source reveals registrable domains other than its own, each once', () => {
  const links = [
    'https://www.a.test/x',
    '//b.test',
    '/c.test',
    'mailto:x@d.test',
    'https://a.test',
    'https://own.example',
    'https://co.uk/',
    'http://192.0.2.7/',
    'https://me.github.io/',
    'https://e f.test/',
    'javascript:alert(1)',
  ].map(anchor)
  const result = probed({
    bare: chain(links, 'https://via.test/', 'https://www.end.test/'),
    www: chain([anchor('https://w.test')]),
  })
  assert.deepEqual(revealed(result, 'redirects'), ['via.test', 'end.test'])
  assert.deepEqual(revealed(result, 'ns'), ['dns-a.test'])
  assert.deepEqual(revealed(result, 'mx'), ['mail.co.uk'])
  assert.deepEqual(revealed(result, 'cname'), ['cdn.test'])
  const { web, ...observation } = observe(result)
  const certified = {
    ...observation,
    web: { ...web!, certificate: certificate('*.own.example', '*.x.test', 'y.x.test', 'z.test') },
  }
  assert.deepEqual(revealedDomains(result, certified, ['certificates']), ['x.test', 'z.test'])
  assert.deepEqual(revealed(result, 'links'), ['a.test', 'b.test', 'me.github.io', 'w.test'])
  assert.deepEqual(revealed(result, ...REVEALING_SOURCES), [
    'via.test',
    'end.test',
    'dns-a.test',
    'mail.co.uk',
    'cdn.test',
    'a.test',
    'b.test',
    'me.github.io',
    'w.test',
  ])
  assert.deepEqual(revealed(result), [])
  assert.deepEqual(revealed({ ...result, dns: null, web: null }, ...REVEALING_SOURCES), [])
})

test('a page with 10,000 links reveals 32 domains at most', () => {
  const links = Array.from({ length: 10_000 }, (_, index) => anchor(`https://n${index}.test/`))
  const found = revealed(probed({ bare: chain(links) }), 'links')
  assert.deepEqual([found.length, found[0], found.at(-1)], [MAX_REVEALED_DOMAINS, 'n0.test', 'n31.test'])
})

test('whatever a page links to, the result is bounded and has no own name', () => {
  const host = fc.oneof(fc.domain(), fc.constantFrom('own.example', 'www.own.example', 'com', '10.1.2.3', 'ä.test'))
  const target = fc.oneof(
    fc.webUrl(),
    fc.string(),
    host.map((each) => `//${each}/`),
    host.map((each) => `https://${each}`),
  )
  let domains = 0
  fc.assert(
    fc.property(fc.array(target, { maxLength: 100 }), (targets) => {
      const found = revealed(probed({ bare: chain(targets.map(anchor)) }), 'links')
      domains += found.length
      assert.equal(new Set(found).size, found.length)
      assert.ok(found.length <= MAX_REVEALED_DOMAINS && !found.includes('own.example'))
    }),
  )
  assert.ok(domains > 100, 'the generator makes links to other domains')
})
