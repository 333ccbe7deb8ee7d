/** The page /crawler: explains to owners of sites what the crawler does, and how to keep it away. */

import { createHash } from 'node:crypto'
import type { ApiResponse } from './http/response.ts'

/** The settings that the page shows. */
export type CrawlerPageSettings = {
  /** A page or a mailbox; null if the installation does not crawl. */
  crawlContact: string | null
  /** The minimum and the maximum time between two probes of a name, in seconds. */
  crawlMinInterval: number
  crawlMaxInterval: number
}

const PAGE_STYLE =
  'body{font:1rem/1.6 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}' +
  'pre,code{background:#f2f2f2}pre{padding:.75rem;overflow:auto}' +
  '@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}pre,code{background:#2a2a2a}' +
  'a{color:#8ab4f8}}'

const CRAWLER_PAGE_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The response of the page. `version`: the version of the program. */
export function crawlerPage(settings: CrawlerPageSettings, version: string): ApiResponse {
  const { crawlContact: contact } = settings
  const main = contact === null ? NOT_CRAWLING_HTML : crawlerHtml(settings, contact, version)
  return {
    status: 200,
    body: [Buffer.from(htmlDocument(main))],
    headers: ['Content-Security-Policy', CRAWLER_PAGE_CSP],
    type: 'text/html; charset=utf-8',
    isShared: true,
  }
}

function htmlDocument(main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The crawler domaindex</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>The crawler domaindex</h1>
${main}
</main>
</body>
</html>
`
}

const NOT_CRAWLING_HTML = `<p>This installation does not crawl, because it has no contact for its crawler.
Its data comes from other sources.</p>
<p>If a visit to your site has brought you here, the <code>User-Agent</code> of that visit names the contact of the
installation that made it.</p>`

function crawlerHtml(settings: CrawlerPageSettings, contact: string, version: string): string {
  const agent = escapeHtml(`domaindex/${version} (+${contact})`)
  return `<p>The crawler examines the DNS records, the start page and the certificate of domains, and records how they change.
The contact of this installation is ${contactLink(contact)}.</p>
<h2>How to recognise it</h2>
<p>Every request has the header <code>User-Agent: ${agent}</code>.
Its token for <code>robots.txt</code> is <code>domaindex</code>.</p>
<h2>What it requests</h2>
<ul>
<li>Seven types of DNS records of a name: A, AAAA, NS, CNAME, MX, TXT and SOA.</li>
<li><code>/</code> over http, and over https if http does not answer or redirects to https.
If the bare name does not answer, the same of <code>www.</code>.
It follows redirects, at most 10, also to other domains, to find out where they end.</li>
<li><code>/robots.txt</code>, before it reads a page.</li>
<li>A TLS handshake at port 443, to find out whether the certificate is valid. It may come without a request.</li>
</ul>
<p>It sends only GET requests, to ports 80 and 443, without cookies.
It does not fill in forms, run scripts or follow links.</p>
${frequencyHtml(settings)}
<h2>What it stores</h2>
<p>It stores the DNS records and when they changed, whether there is a website and where it redirects,
and whether the certificate is valid.
It also stores the accounts in social networks to which the start page links,
and which words its text contains and how often, as numbers, not the text.</p>
${avoidanceHtml(contact)}`
}

function frequencyHtml({ crawlMinInterval, crawlMaxInterval }: CrawlerPageSettings): string {
  const [earliest, latest] = [durationText(crawlMinInterval), durationText(crawlMaxInterval)]
  return `<h2>How often</h2>
<p>A name is due again about ${earliest} after a visit at the earliest and about ${latest} at the latest:
sooner if something has changed.
There are additional visits for a file of new domains, and for a list of names from the operator.
If a visit was cut short because too many names are at an address, or if its results may be wrong,
the crawler repeats it some minutes later.
It makes one visit in a thousand twice at once, to check itself.</p>
<p>At most one visit per second starts at an address, and at most five at all addresses of a network (/24, or /48 of IPv6)
together.
If an address or a network has so many names that ten days are not enough for them,
the limits increase in proportion, up to 20 and 100.</p>`
}

function avoidanceHtml(contact: string): string {
  return `<h2>How to slow it down, or keep it away</h2>
<ul>
<li>After a response 429, or 503 with <code>Retry-After</code>, it does not contact that address
for as long as the response asks:
at most a minute at first, and at most an hour or a day if such responses continue.</li>
<li><code>robots.txt</code> keeps it from reading pages.
It still examines whether the site answers, where it redirects, and its certificate:
<pre>User-agent: domaindex
Disallow: /</pre></li>
<li>To stop all visits, both DNS and web, write to ${contactLink(contact)} and name the domains or the addresses.
The stored data of a domain can be deleted, too.</li>
</ul>`
}

/** A link to a contact, which is printable ASCII: the URL of a page, or a mailbox. */
function contactLink(contact: string): string {
  const address = /^https?:/i.test(contact) ? contact : `mailto:${encodeURIComponent(contact).replace('%40', '@')}`
  return `<a href="${escapeHtml(address)}">${escapeHtml(contact)}</a>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char]!)
}

/** A duration in whole days, hours or minutes, such as `1 day` or `12 hours`. */
function durationText(seconds: number): string {
  const [unit, length] = DURATION_UNITS.find(([, each]) => seconds % each === 0) ?? (['second', 1] as const)
  const count = seconds / length
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

const DURATION_UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const
