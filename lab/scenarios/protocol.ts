/** Servers that speak outdated, careless or hostile HTTP. */

import { MEADOW, ORCHARD } from '../hosts.ts'
import { type LabRow, row, type StateDescription } from '../lab-row.ts'
import {
  dripFeed,
  encrypted,
  everywhere,
  forever,
  HTML,
  html,
  page,
  type Reply,
  redirect,
  reply,
  robots,
} from '../site.ts'

const text = 'Spoken and understood.'
const START = html(text)
const HEAD = ['HTTP/1.1 200 OK', `Content-Type: ${HTML}`, 'Connection: close']

/** A row whose start page is sent like this. Its text is read, or there is no answer at all. */
const sent = (name: string, shows: string, start: Reply, isRead = true): LabRow =>
  row(name, shows, { at: [ORCHARD], site: everywhere(start), web: isRead ? { text } : { has_website: false } })

/** Sends bytes and closes the connection. */
const wire = (...lines: string[]): Reply => ({
  wire: async function* () {
    yield lines.join('')
  },
})

const lines = (...each: string[]): string => each.map((line) => `${line}\r\n`).join('')

const SPEECH: readonly LabRow[] = [
  sent(
    'early-hints.example',
    'A 103 precedes the response.',
    wire(lines('HTTP/1.1 103 Early Hints', 'Link: </a.css>', ''), lines(...HEAD, ''), START),
  ),
  sent(
    'endless-hints.example',
    'Endless 103 responses are no response.',
    { wire: () => forever(lines('HTTP/1.1 103 Early Hints', 'Link: </a.css>', '')) },
    false,
  ),
  sent(
    'old-http.example',
    'HTTP 1.0: the page ends where the connection ends.',
    wire(lines('HTTP/1.0 200 OK', `Content-Type: ${HTML}`, ''), START),
  ),
  sent(
    'no-reason.example',
    'A status without a reason phrase.',
    wire(lines('HTTP/1.1 200', ...HEAD.slice(1), ''), START),
  ),
  sent(
    'long-field.example',
    'A header field of a hundred thousand characters is no response.',
    wire(lines(...HEAD, `X-Long: ${'x'.repeat(100_000)}`, ''), START),
    false,
  ),
  sent('hangs-up.example', 'It accepts the request and closes the connection.', wire(''), false),
  sent(
    'cookie-wall.example',
    'It redirects to itself until a cookie is returned, which the crawler does not do.',
    reply(302, '', { location: '/', 'set-cookie': 'seen=1' }),
    false,
  ),
]

/** A page over https with this robots.txt. */
const withRobots = (
  name: string,
  shows: string,
  rules: Reply,
  read: string | null = null,
  start: Reply = page(text),
): LabRow =>
  row(name, shows, {
    at: [MEADOW],
    site: encrypted(name, start, { robots: rules }),
    web: { redirect_to_https: true, text: read },
  })

const REFUSED = robots('User-agent: *', 'Disallow: /')

const ROBOTS: readonly LabRow[] = [
  withRobots(
    'robots-refuses.example',
    'All crawlers are disallowed: everything is judged, and the page is not read.',
    REFUSED,
  ),
  withRobots(
    'robots-refuses-us.example',
    'Only this crawler is disallowed.',
    robots('User-agent: domaindex', 'Disallow: /', '', 'User-agent: *', 'Allow: /'),
  ),
  withRobots(
    'robots-refuses-others.example',
    'Other crawlers are disallowed.',
    robots('User-agent: otherbot', 'Disallow: /'),
    text,
  ),
  withRobots(
    'robots-refuses-parts.example',
    'The start page is not disallowed.',
    robots('User-agent: *', 'Disallow: /admin'),
    text,
  ),
  withRobots(
    'robots-fails.example',
    'A robots.txt that fails disallows everything (RFC 9309, section 2.3.1.4).',
    reply(503),
  ),
  withRobots(
    'robots-denied.example',
    'A forbidden robots.txt allows everything (RFC 9309, section 2.3.1.3).',
    reply(403),
    text,
  ),
  withRobots('robots-drips.example', 'A robots.txt that times out is unreachable: it disallows everything.', {
    wire: () => dripFeed('x', 'HTTP/1.1 200 OK\r\nX-More: '),
  }),
  withRobots(
    'robots-huge.example',
    'Of a robots.txt of a megabyte the first 512 KiB count.',
    robots('User-agent: *', '#'.repeat(1024 * 1024), 'Disallow: /'),
    text,
  ),
  withRobots(
    'robots-hides-refresh.example',
    'A page that is not read does not redirect.',
    REFUSED,
    null,
    reply(
      200,
      START.replace('<head>', '<head><meta http-equiv="refresh" content="0; url=https://harbour-bakery.example/">'),
    ),
  ),
  row('robots-moved.example', 'A robots.txt that has moved to another host of the domain.', {
    at: [MEADOW],
    site: everywhere(page(text), { robots: redirect('http://www.robots-moved.example/robots.txt') }),
    wwwSite: everywhere(page(text), { robots: REFUSED }),
    web: {},
  }),
]

const underOne: StateDescription = {
  at: [MEADOW],
  site: everywhere(redirect('https://www.street-market.test/')),
  zone: { 'www.street-market.test': { A: [ORCHARD] } },
  sites: { 'www.street-market.test': everywhere(page(text)) },
  web: { redirect_to_https: true, redirects_to: 'www.street-market.test', text },
}

export const PROTOCOL: readonly LabRow[] = [
  ...SPEECH,
  ...ROBOTS,
  row(
    'shop.street-market.test',
    'A host that is crawled as a domain: its registrable domain is not another one.',
    underOne,
  ),
]
