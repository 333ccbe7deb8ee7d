/** The search box understands what people paste: domains, addresses, networks, URLs and mail addresses, also defanged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePastedQuery, parsePastedSearch } from '../../src/values/pasted/pasted-query.ts'
import { explorerAddress, searchPath } from '../../web/client/paths.ts'
import { addressOfText } from '../../web/views/explorer/search/pasted-address.ts'

const PASTED: readonly (readonly [text: string, address: string | null])[] = [
  ['example.com', '/domain/example.com'],
  ['  Example.COM. ', '/domain/example.com'],
  ['https://www.example.com/path?query#hash', '/domain/www.example.com'],
  ['hxxps://exa[.]mple[.]com/path', '/domain/exa.mple.com'],
  ['hxxp[://]example(dot)com:8080/', '/domain/example.com'],
  ['example[.]com', '/domain/example.com'],
  ['user@example.com', '/domain/example.com'],
  ['mailto:user@example.com', '/domain/example.com'],
  ['https://user:password@example.com/', '/domain/example.com'],
  ['//example.com/path', '/domain/example.com'],
  ['<https://example.com>', '/domain/example.com'],
  ['"example.com",', '/domain/example.com'],
  ['example.com:8443', '/domain/example.com'],
  ['münchen.example', '/domain/xn--mnchen-3ya.example'],
  ['_dmarc.example.com', '/domain/_dmarc.example.com'],
  ['192.0.2.1', '/ip/192.0.2.1'],
  ['192[.]0[.]2[.]1', '/ip/192.0.2.1'],
  ['192.0.2.1:443', '/ip/192.0.2.1'],
  ['http://192.0.2.1/path', '/ip/192.0.2.1'],
  ['192.0.2[.]0/24', null],
  ['2001:DB8::/32', null],
  ['http://192.0.2.1/24', '/ip/192.0.2.1'],
  ['2001:DB8::1', '/ip/2001:db8::1'],
  ['[2001:db8::1]:443', '/ip/2001:db8::1'],
  ['http://[2001:db8::1]/', '/ip/2001:db8::1'],
  ['::ffff:192.0.2.1', '/ip/::ffff:192.0.2.1'],
  ['999.1.1.1', null],
  ['192.0.2.256', null],
  ['', null],
  ['   ', null],
  ['localhost', null],
  ['two words.example', null],
]

for (const [text, address] of PASTED) {
  test(`${JSON.stringify(text)} is ${address ?? 'no query'}`, () => {
    const query = parsePastedQuery(text)
    assert.equal(query === null ? null : explorerAddress(query), address)
  })
}

const SEARCHES: readonly (readonly [text: string, address: string | null])[] = [
  ['bank', '/search?q=bank'],
  [' *.example.com ', '/search?q=*.example.com'],
  ['paypa[l1]*.com', '/search?q=paypa%5Bl1%5D*.com'],
  ['b?nk.com', '/search?q=b%3Fnk.com'],
  ['.bank', '/search?q=*.bank'],
  ['[.]co[.]uk', '/search?q=*.co.uk'],
  ['.bank.', null],
  ['/^bank[.]com/', '/search?q=%2F%5Ebank%5B.%5Dcom%2F'],
  ['example[.]com', null],
  ['https://example.com/?q=*', null],
  ['[2001:db8::1]', null],
  ['192.0.2.0/24', null],
  ['two words', null],
  ['', null],
]

for (const [text, address] of SEARCHES) {
  test(`${JSON.stringify(text)} is ${address === null ? 'no search' : `the search ${address}`}`, () => {
    const q = parsePastedSearch(text)
    assert.equal(q === null ? null : searchPath({ q, tld: '' }), address)
  })
}

const TEXTS: readonly (readonly [text: string, address: string | null])[] = [
  ['192.0.2[.]0/24', '/ip/192.0.2.0/24'],
  [' "2001:DB8::/32", ', '/ip/2001:db8::/32'],
  ['http://192.0.2.1/24', '/ip/192.0.2.1'],
  ['192.0.2.1', '/ip/192.0.2.1'],
  ['example.com/24', '/domain/example.com'],
  ['bank*', '/search?q=bank*'],
  ['999.1.1.1', null],
]

for (const [text, address] of TEXTS) {
  test(`a search box with ${JSON.stringify(text)} leads to ${address ?? 'nothing'}`, () => {
    assert.equal(addressOfText(text), address)
  })
}
