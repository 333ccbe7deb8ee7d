/** Names and addresses: which spellings of a domain are equal, and which texts are invalid. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from './errors.ts'
import { look } from './observations.ts'
import { metaOf } from './walks.ts'
import { makeWorld } from './world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

const LABEL = 'a'.repeat(63)
/** 253 bytes, the maximum length of a name. */
const LONGEST = `${LABEL}.${LABEL}.${LABEL}.${'b'.repeat(61)}`

for (const [sentence, query, canonical] of [
  ['case is ignored', 'ExAmPlE.COM', 'example.com'],
  ['one trailing dot is dropped', 'example.com.', 'example.com'],
  ['surrounding white space is dropped', ' \t example.com \r\n', 'example.com'],
  ['a name outside ASCII goes through UTS 46', 'bücher.example', 'xn--bcher-kva.example'],
  ['a name outside ASCII in any case', 'BÜCHER.Example', 'xn--bcher-kva.example'],
  ['a decomposed character is composed', 'bu\u0308cher.example', 'xn--bcher-kva.example'],
  ['ß stays ß', 'straße.example', 'xn--strae-oqa.example'],
  ['a full-width dot and letters are mapped', 'ｅｘａｍｐｌｅ。com', 'example.com'],
  ['a top-level domain outside ASCII', 'пример.рф', 'xn--e1afmkfd.xn--p1ai'],
  ['an A-label passes lower-cased', 'XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
  ['an undecodable xn-- label passes', 'xn--zzzzzzzzz99999.example', 'xn--zzzzzzzzz99999.example'],
  ['edge hyphens pass', '-a-.b-.example', '-a-.b-.example'],
  ['hyphens at third and fourth place pass', 'ab--cd.example', 'ab--cd.example'],
  ['underscores pass', '_dmarc.a_b.example', '_dmarc.a_b.example'],
  ['digits pass, but for a last label of digits only', '1.2.3.4a', '1.2.3.4a'],
  ['an unknown suffix passes', 'a.no-such-suffix', 'a.no-such-suffix'],
  ['a public suffix passes', 'co.uk', 'co.uk'],
  ['a label of 63 bytes passes', `${LABEL}.example`, `${LABEL}.example`],
  ['a name of 253 bytes is accepted', LONGEST, LONGEST],
  ['a name of 253 bytes passes with its trailing dot', `${LONGEST}.`, LONGEST],
] as const) {
  test(`a domain: ${sentence}`, async () => {
    for (const endpoint of ['redirect', 'dnshistory']) {
      const seen = await world.ask(endpoint, { token, query })
      assert.equal(seen.status, 200, seen.text)
      assert.equal(metaOf(seen).query, canonical)
      const byGet = await world.ask(endpoint, { token, query }, { method: 'GET' })
      assert.deepEqual(byGet.body, seen.body)
    }
    await world.ingest(look(canonical))
    assert.equal(metaOf(await world.ask('lookup', { token, query })).query, canonical)
  })
}

for (const [sentence, query] of [
  ['no dot', 'localhost'],
  ['no dot but a trailing one', 'localhost.'],
  ['a dot alone', '.'],
  ['an empty label in front', '.example.com'],
  ['an empty label inside', 'a..example.com'],
  ['two trailing dots', 'example.com..'],
  ['a label over 63 bytes', `${LABEL}a.example`],
  ['a label over 63 bytes as A-label', `${'ü'.repeat(60)}.example`],
  ['over 253 bytes', `${LONGEST}b`],
  ['very long', 'a.'.repeat(30_000)],
  ['a scheme', 'http://example.com'],
  ['a scheme alone', '//example.com'],
  ['a slash', 'example.com/'],
  ['a path', 'example.com/path'],
  ['a query', 'example.com?a=b'],
  ['a fragment', 'example.com#a'],
  ['a port', 'example.com:80'],
  ['a mailbox', 'someone@example.com'],
  ['inner white space', 'exam ple.com'],
  ['an inner line break', 'a.example\nb.example'],
  ['a wildcard', '*.example.com'],
  ['a comma', 'a,b.example'],
  ['a percent sign', '%65xample.com'],
  ['a quote', 'a".example'],
  ['a backslash', 'a\\.example'],
  ['a control character', 'a\u0000b.example'],
  ['a lone surrogate', 'a\ud800.example'],
  ['a character that UTS 46 refuses', 'a\u2028b.example'],
  ['an emoji that hides a slash', 'a\u2100b.example'],
  ['brackets', '[example.com]'],
  ['a last label of digits only', 'example.123'],
  ['a last label of full-width digits', 'example.１２３'],
  ['an IPv4 address', '192.0.2.1'],
  ['an IPv4 address with a trailing dot', '192.0.2.1.'],
  ['a full-width IPv4 address', '１９２.０.２.１'],
  ['an IPv6 address', '2001:db8::1'],
  ['an IPv6 address in brackets', '[2001:db8::1]'],
  ['a number', 3.14],
  ['an object', { domain: 'example.com' }],
  ['a list', ['example.com']],
  ['true', true],
  ['false', false],
] as const) {
  test(`rejected with domain_format: ${sentence}; msg says what to send instead`, async () => {
    for (const endpoint of ['lookup', 'redirect', 'dnshistory', 'similar']) {
      const msg = assertRefused(await world.ask(endpoint, { token, query }), endpoint, 'domain_format')
      assert.ok(msg.length < 300 && !/[^ -~]/.test(msg), msg)
    }
  })
}

for (const [query, better] of [
  ['https://www.example.com/path?x=1', 'www.example.com'],
  ['example.com/', 'example.com'],
  ['example.com:8080', 'example.com'],
] as const) {
  test(`msg says what to send instead: ${query}`, async () => {
    const msg = assertRefused(await world.ask('lookup', { token, query }), 'lookup', 'domain_format')
    assert.ok(msg.includes(` ${better}.`) || msg.includes(` ${better} `), msg)
  })
}

for (const [given, shortest] of [
  ['2001:0DB8:0:0:0:0:2:1', '2001:db8::2:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['::192.0.2.1', '::c000:201'],
  ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  [' 192.0.2.1 ', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
] as const) {
  test(`an address: RFC 5952 form: ${given}`, async () => {
    const msg = assertRefused(await world.ask('reverseip', { token, query: given }), 'reverseip', 'no_data')
    assert.ok(msg.includes(` ${shortest}.`), msg)
  })
}
