/** The page /crawler: tells those whom the crawler visits what it is, what it does, and how to keep it away. */

import { createHash } from 'node:crypto'
import type { ApiResponse } from './http/response.ts'

/** What the page tells of this installation. */
export type CrawlerPageSettings = {
  /** A page or a mailbox; null where nothing is crawled. */
  crawlContact: string | null
  /** Seconds between two visits of a name, at least and at most. */
  crawlMinInterval: number
  crawlMaxInterval: number
}

const PAGE_STYLE =
  'body{font:1rem/1.6 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}' +
  'pre,code{background:#f2f2f2}pre{padding:.75rem;overflow:auto}' +
  '@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}pre,code{background:#2a2a2a}a{color:#8ab4f8}}'

const CRAWLER_PAGE_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** `version`: that of the program. */
export function crawlerPage(crawling: CrawlerPageSettings, version: string): ApiResponse {
  const { crawlContact: contact } = crawling
  const main = contact === null ? NOT_CRAWLING_HTML : crawlerHtml(crawling, contact, version)
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

const NOT_CRAWLING_HTML = `<p>This installation does not crawl: nobody has said how to reach whoever would. What it answers came from elsewhere.</p>
<p>If a visit has brought you here, its <code>User-Agent</code> names the contact of the installation that made it.</p>`

function crawlerHtml(
  { crawlMinInterval: crawlSoonest, crawlMaxInterval: crawlLatest }: CrawlerPageSettings,
  contact: string,
  version: string,
): string {
  const agent = escapeHtml(`domaindex/${version} (+${contact})`)
  return `<p>It looks at the DNS records, the start page and the certificate of domains, and keeps what they were and how they changed. Whoever runs it here is reached at ${contactLink(contact)}.</p>
<h2>How to recognise it</h2>
<p>Every request says <code>User-Agent: ${agent}</code>. Its token for <code>robots.txt</code> is <code>domaindex</code>.</p>
<h2>What it asks for</h2>
<ul>
<li>Seven types of DNS records of a name: A, AAAA, NS, CNAME, MX, TXT and SOA.</li>
<li><code>/</code> by http, and by https where that answers nothing or sends it there; the same of <code>www.</code> where the bare name answers nothing. Redirects are followed, at most 10, also to other domains, to see where they end.</li>
<li><code>/robots.txt</code>, before a page is read.</li>
<li>A TLS handshake at port 443, to see whether the certificate is valid. It may come without a request.</li>
</ul>
<p>It sends nothing but GET, to ports 80 and 443, without cookies. It fills in no forms, runs no scripts, and follows no links.</p>
<h2>How often</h2>
<p>A name is due again about ${durationText(crawlSoonest)} after a visit at the earliest and about ${durationText(crawlLatest)} at the latest: sooner where something had changed. It is visited out of its turn for a file of new domains, and with a list that whoever runs the crawler gives. A visit that was cut short, because too many names lie at an address, or whose findings could not be trusted, is made again some minutes later. One visit of a thousand is made twice at once, by which the crawler checks on itself. At most one visit a second begins at an address, and at most five at all those of a network (/24, or /48 of IPv6) together; where so many names lie that ten days would not do for them, more, in proportion, up to 20 and 100.</p>
<h2>What is kept</h2>
<p>The DNS records and since when they are as they are; whether there is a website and where it redirects to; whether the certificate is valid; the accounts of social networks that the start page links to; and which words stand in its text and how often, as numbers, not the text.</p>
<h2>How to slow it down, or keep it away</h2>
<ul>
<li>An answer 429, or 503 with <code>Retry-After</code>, keeps it from that address for as long as is asked, for a minute at first, for an hour or a day where visits go on being answered so.</li>
<li><code>robots.txt</code> keeps it from reading pages. Whether the site answers, where it redirects, and the certificate are still looked at:
<pre>User-agent: domaindex
Disallow: /</pre></li>
<li>To have no visits at all, neither DNS nor web, write to ${contactLink(contact)}, and name the domains, or the addresses. What is stored of a domain can be forgotten, too.</li>
</ul>`
}

/** A contact is printable ASCII: the address of a page, or a mailbox. */
function contactLink(contact: string): string {
  const address = /^https?:/i.test(contact) ? contact : `mailto:${encodeURIComponent(contact).replace('%40', '@')}`
  return `<a href="${escapeHtml(address)}">${escapeHtml(contact)}</a>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char]!)
}

/** Whole days, hours or minutes, as in `1 day` or `12 hours`. */
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
