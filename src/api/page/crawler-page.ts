/** The page /crawler: explains to owners of sites what the crawler does, and how to keep it away. */

import { createHash } from 'node:crypto'
import { SECONDS_PER_DAY } from '../../values/time.ts'
import type { ApiResponse } from '../http/response.ts'

/** The settings that the page shows. */
export type CrawlerPageSettings = {
  /** A page or an email address; null if the installation does not crawl. */
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
  const contact = settings.crawlContact
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
<title>The domaindex crawler</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>The domaindex crawler</h1>
${main}
</main>
</body>
</html>
`
}

const NOT_CRAWLING_HTML = `<p>This installation does not crawl, because it has no contact for its crawler.
Its data comes from other sources.</p>
<p>If the crawler visited your site, look at the <code>User-Agent</code> of its requests:
it names the contact of the installation that sent them.</p>`

function crawlerHtml(settings: CrawlerPageSettings, contact: string, version: string): string {
  const agent = escapeHtml(`domaindex/${version} (+${contact})`)
  return `<p>The crawler examines the DNS records, the start page and the certificate of domains, and records how they change.
Its operator can be reached at ${contactLink(contact)}.</p>
<h2>How to recognise it</h2>
<p>Every request has the header <code>User-Agent: ${agent}</code>.
Its token for <code>robots.txt</code> is <code>domaindex</code>.</p>
<h2>What it requests</h2>
<ul>
<li>Seven types of DNS records of a name: A, AAAA, NS, CNAME, MX, TXT and SOA.</li>
<li>The start page, <code>/</code>, over http. If http does not answer or redirects to https, also over https.
If the name itself does not answer, the crawler tries its <code>www.</code> host.
It follows at most 10 redirects, also to other domains, to find out where they end.</li>
<li><code>/robots.txt</code>, before it reads a page.</li>
<li>A TLS handshake at port 443, to find out whether the certificate is valid. Sometimes no HTTP request follows it.</li>
</ul>
<p>It sends only GET requests, to ports 80 and 443, without cookies.
It does not fill in forms, run scripts or follow links.</p>
${frequencyHtml(settings)}
<h2>What it stores</h2>
<p>It stores the DNS records and when they changed, whether there is a website and where it redirects,
and whether the certificate is valid.
It also stores the social media accounts to which the start page links.
It does not store the text of the page, only a number for each word and how often the word occurs.</p>
${avoidanceHtml(contact)}`
}

function frequencyHtml({ crawlMinInterval, crawlMaxInterval }: CrawlerPageSettings): string {
  const [earliest, latest] = [durationText(crawlMinInterval), durationText(crawlMaxInterval)]
  return `<h2>How often</h2>
<p>A name is due again about ${earliest} after a visit at the earliest and about ${latest} at the latest.
It is due sooner if something has changed.
The crawler makes additional visits for files about new domains, and for lists of names from the operator.
If it cannot complete a visit within its rate limits, or if the results may be wrong,
the crawler repeats it some minutes later.
To check itself, it makes one visit in a thousand twice at the same time.</p>
<p>At most one visit per second starts at an address, and at most five at all addresses of a network (/24, or /48 of IPv6)
together.
If an address or a network has so many names that the crawler needs more than ten days for them at this rate,
the limits increase in proportion, up to 20 and 100.</p>`
}

function avoidanceHtml(contact: string): string {
  return `<h2>How to slow it down, or stop it</h2>
<ul>
<li>After a response 429, or 503 with <code>Retry-After</code>, it does not contact that address
for as long as the response requests.
The first such pause is at most a minute. If such responses continue, a pause is at most an hour, and then a day.</li>
<li>With these lines in <code>robots.txt</code>, it does not read your pages.
It still examines whether the site answers, where it redirects, and its certificate:
<pre>User-agent: domaindex
Disallow: /</pre></li>
<li>To stop all visits, both DNS and web, write to ${contactLink(contact)} and name the domains or the addresses.
The operator can also delete the stored data of a domain.</li>
</ul>`
}

/** A link to a contact, which is printable ASCII: the URL of a page, or an email address. */
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
  ['day', SECONDS_PER_DAY],
  ['hour', 3_600],
  ['minute', 60],
] as const
