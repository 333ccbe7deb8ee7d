/** What redirect chains mean for /lookup. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeWebsite, type WebsiteVerdict } from '../../src/observe/observe.ts'
import type { ChainEnd, RedirectChain } from '../../src/probe/probe-result.ts'
import { CLOSED, chain, DOMAIN, name, page, SILENT, web } from './probe-results.ts'

function look(bare: RedirectChain, www: RedirectChain | null = null, domain = DOMAIN): WebsiteVerdict {
  const found = judgeWebsite(web(bare, www), domain)
  assert.ok(found !== null)
  return found
}

for (const status of [200, 204, 299, 401, 403, 429]) {
  test(`a chain that ends ${status} is a website`, () => {
    assert.equal(look(chain('answered', `http://example.com/ ${status}`)).has_website, true)
  })
}

for (const status of [100, 199, 300, 301, 304, 400, 402, 404, 410, 500, 503]) {
  test(`a chain that ends ${status} is not a website`, () => {
    assert.equal(look(chain('answered', `http://example.com/ ${status}`)).has_website, false)
  })
}

test('any host under the registrable domain belongs to the domain', () => {
  const found = look(chain('answered', 'http://example.com/ 302', 'https://shop.eu.example.com/ 200'))
  assert.deepEqual([found.has_website, found.redirects_to], [true, null])
})

test('below a public suffix, another name is another domain', () => {
  const found = look(
    chain('answered', 'http://a.github.io/ 301', 'https://b.github.io/ 200'),
    null,
    name('a.github.io'),
  )
  assert.deepEqual([found.has_website, found.redirects_to], [false, 'b.github.io'])
})

for (const end of ['answered', 'no_response', 'not_allowed'] satisfies ChainEnd[]) {
  test(`a chain that ends ${end} on another registrable domain redirects to it and is not a website`, () => {
    const last = end === 'answered' ? 'https://www.other.co.uk/ 200' : 'https://www.other.co.uk/'
    const found = look(chain(end, 'http://example.com/ 301', last))
    assert.deepEqual([found.has_website, found.redirects_to, found.page], [false, 'other.co.uk', null])
  })
}

test('the final host of the chain is stored, except the domain itself and its www. host', () => {
  const hostOf = (last: string) => look(chain('answered', 'http://example.com/ 301', `${last} 200`)).redirect_host
  assert.equal(hostOf('https://www.shop.other.co.uk/'), 'www.shop.other.co.uk')
  assert.equal(hostOf('https://other.co.uk/'), 'other.co.uk')
  assert.equal(hostOf('https://shop.example.com/'), 'shop.example.com')
  assert.equal(hostOf('https://www.example.com/'), undefined)
  assert.equal(look(chain('answered', 'http://example.com/ 200')).redirect_host, undefined)
  assert.equal(look(chain('not_allowed', 'http://example.com/ 301', 'http://192.0.2.1/')).redirect_host, undefined)
  assert.equal(
    look(chain('too_many_redirects', 'http://example.com/ 302', 'https://other.org/')).redirect_host,
    undefined,
  )
})

test('a chain that ends on another domain redirects to it, whatever that answers', () => {
  assert.equal(look(chain('answered', 'http://example.com/ 301', 'https://other.org/ 500')).redirects_to, 'other.org')
})

test('a chain that leaves the registrable domain and returns is not a website and redirects to no domain', () => {
  const found = look(
    chain('answered', 'http://example.com/ 302', 'https://login.other.org/ 302', 'https://example.com/in 200'),
  )
  assert.deepEqual([found.has_website, found.redirects_to], [false, null])
})

test('an endless chain is not a website and redirects to no domain', () => {
  const found = look(
    chain('too_many_redirects', 'http://example.com/ 302', 'https://other.org/ 302', 'https://other.org/2'),
  )
  assert.deepEqual([found.has_website, found.redirects_to], [false, null])
})

test('a chain that ends without a response on its own domain is not a website', () => {
  const found = look(chain('no_response', 'http://example.com/ 301', 'https://example.com/'))
  assert.deepEqual([found.has_website, found.redirects_to, found.redirect_to_https], [false, null, true])
})

test('a chain that is redirected to an IP address has left the domain and redirects to none', () => {
  const found = look(chain('not_allowed', 'http://example.com/ 301', 'http://192.0.2.1/'))
  assert.deepEqual([found.has_website, found.redirects_to], [false, null])
})

test('if a chain ends on its own domain at a host that may not be probed, the web is unknown', () => {
  assert.equal(
    judgeWebsite(web(chain('not_allowed', 'http://example.com/ 301', 'https://example.com:8443/')), DOMAIN),
    null,
  )
})

test('redirect_to_https: the chain from http goes to https on a host of the registrable domain', () => {
  const found = look(
    chain('answered', 'http://example.com/ 301', 'https://www.example.com/ 301', 'https://other.org/ 200'),
  )
  assert.deepEqual([found.redirect_to_https, found.redirects_to], [true, 'other.org'])
})

test('redirect_to_https: not if only another domain supports https', () => {
  assert.equal(look(chain('answered', 'http://example.com/ 301', 'https://other.org/ 200')).redirect_to_https, false)
})

test('redirect_to_https: not if the chain started with https', () => {
  assert.equal(
    look(chain('answered', 'https://example.com/ 301', 'https://www.example.com/ 200')).redirect_to_https,
    false,
  )
})

test('redirect_to_https: not if the chain stays with http', () => {
  assert.equal(
    look(chain('answered', 'http://example.com/ 301', 'http://www.example.com/ 200')).redirect_to_https,
    false,
  )
})

test('redirect_to_www: a chain from the bare name goes to its www. host', () => {
  const found = look(chain('answered', 'http://example.com/ 301', 'http://WWW.example.com./ 200'))
  assert.equal(found.redirect_to_www, true)
})

test('redirect_to_www: a host below www. or another www. host does not count', () => {
  for (const host of ['www.eu.example.com', 'www.other.org', 'www2.example.com']) {
    assert.equal(look(chain('answered', 'http://example.com/ 301', `http://${host}/ 200`)).redirect_to_www, false)
  }
})

test('redirect_to_www: not if the chain started at www.', () => {
  const www = chain('answered', 'http://www.example.com/ 301', 'https://www.example.com/ 200')
  assert.deepEqual([look(SILENT, www).redirect_to_www, look(SILENT, www).redirect_to_https], [false, true])
})

test('only_with_www: the bare name does not answer, and www. does', () => {
  const found = look(SILENT, chain('answered', 'http://www.example.com/ 200'))
  assert.deepEqual([found.only_with_www, found.has_website], [true, true])
})

test('only_with_www: not if the bare name gives any answer', () => {
  const found = look(chain('answered', 'http://example.com/ 500'), chain('answered', 'http://www.example.com/ 200'))
  assert.deepEqual([found.only_with_www, found.has_website], [false, false])
})

test('a name that answers neither bare nor as www. has no website', () => {
  for (const www of [SILENT, null]) {
    const found = look(SILENT, www)
    assert.deepEqual(
      { ...found },
      {
        has_website: false,
        redirect_to_https: false,
        redirect_to_www: false,
        only_with_www: false,
        redirects_to: null,
        page: null,
      },
    )
  }
})

test('if nothing answers and a start URL may not be probed, the web is unknown', () => {
  for (const seen of [web(CLOSED), web(CLOSED, SILENT), web(SILENT, CLOSED)])
    assert.equal(judgeWebsite(seen, DOMAIN), null)
})

test('if one start URL may not be probed and another answers, that one counts, and only_with_www is false', () => {
  const found = look(CLOSED, chain('answered', 'http://www.example.com/ 200'))
  assert.deepEqual([found.has_website, found.only_with_www], [true, false])
})

test('the page is that of the relevant chain, if there is a website', () => {
  const start = page([], ['Hello'])
  const answered = { ...chain('answered', 'http://www.example.com/ 200'), page: start }
  assert.equal(look(SILENT, answered).page, start)
  assert.equal(look({ ...chain('answered', 'http://example.com/ 404'), page: start }).page, null)
})
