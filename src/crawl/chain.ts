/** One walk along redirects, by Location and by meta refresh, to the page at its end. */

import { type Name, registrable } from '../words/name.ts'
import type { Miss } from './http-dial.ts'
import type { Reply } from './http-exchange.ts'
import { pageReader, type ReadPage } from './page.ts'
import { type Chain, type Hop, MOST_HOPS } from './visit.ts'
import type { WebLimits } from './web-limits.ts'
import { isLookedAt, locationOf, targetOf } from './web-target.ts'

/** The web as one visit meets it. */
export type Scene = {
  /** The registrable domain whose pages are read. */
  own: Name
  get(url: URL): Promise<Reply | Miss>
  /** Whether robots.txt lets us read the page of this origin. */
  mayFetch(origin: string): Promise<boolean>
  limits: WebLimits
}

const PAGE_TYPES = new Set(['', 'text/html', 'application/xhtml+xml'])

/** Follows at most MOST_HOPS redirects. Pages are read on the own registrable domain only. */
export async function walk(start: URL, scene: Scene): Promise<Chain> {
  const hops: Hop[] = []
  for (let url = start; ; ) {
    const answer = await look(url, scene)
    if (typeof answer === 'string') return { hops, end: answer, page: null }
    const { status, to, by, page } = answer
    hops.push({ url: url.href, status, to: to?.href ?? null, by })
    if (to === null) return { hops, end: 'answered', page }
    if (hops.length > MOST_HOPS) return { hops, end: 'endless', page: null }
    if (!isLookedAt(to)) return { hops, end: 'closed', page: null }
    url = to
  }
}

type Answer = { status: number; to: URL | null; by: Hop['by']; page: ReadPage['page'] | null }

async function look(url: URL, scene: Scene): Promise<Answer | Miss> {
  const isOwn = registrable(url.hostname as Name) === scene.own
  // Over TLS robots.txt goes first, because a second connection beside a page that waits would cost a handshake.
  let allowed = isOwn && url.protocol === 'https:' ? await scene.mayFetch(url.origin) : null
  const reply = await scene.get(url)
  if (typeof reply === 'string') return reply
  const { status } = reply
  const to = status >= 300 && status < 400 ? locationOf(reply, url) : null
  if (to !== null || !isOwn || !isPage(reply)) {
    reply.drop()
    return { status, to, by: to === null ? null : 'location', page: null }
  }
  if (allowed === null) {
    reply.hold()
    allowed = await scene.mayFetch(url.origin)
  }
  const read = allowed ? await readPage(reply, url, scene.limits) : null
  if (!allowed) reply.drop()
  return endOf(status, url, read)
}

/** A page that its refresh leaves is not kept. */
function endOf(status: number, url: URL, read: ReadPage | null): Answer {
  const to = typeof read?.refresh === 'string' ? targetOf(read.refresh, url) : null
  if (to === null) return { status, to: null, by: null, page: read?.page ?? null }
  return { status, to, by: 'refresh', page: null }
}

function isPage(reply: Reply): boolean {
  const [type = ''] = (reply.field('content-type') ?? '').split(';', 1)
  return reply.status < 300 && PAGE_TYPES.has(type.trim().toLowerCase())
}

async function readPage(reply: Reply, url: URL, limits: WebLimits): Promise<ReadPage | null> {
  const reader = pageReader({ contentType: reply.field('content-type'), url: url.href })
  const reading = await reply.read((chunk) => reader.write(chunk), limits)
  return reading === 'unreadable' ? null : reader.end()
}
