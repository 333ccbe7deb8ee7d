/** robots.txt (RFC 9309): whether our agent may fetch the start page of an origin. */

import robotsParser from 'robots-parser'
import type { Miss } from './http-dial.ts'
import type { Reply } from './http-exchange.ts'
import { waitFor } from './patience.ts'
import { Recent } from './recent.ts'
import type { WebLimits } from './web-limits.ts'
import { isLookedAt, locationOf } from './web-target.ts'

export type Get = (url: URL) => Promise<Reply | Miss>

/** What is remembered of robots.txt, an origin each. */
export type Robots = {
  /** Whether `/` of an origin may be fetched; asks by `get` where that is not known. */
  mayFetch(origin: string, get: Get): Promise<boolean>
}

/** `now` in milliseconds. */
type RobotsOptions = { userAgent: string; limits: WebLimits; now?: () => number }

/** The package exports the function itself, its types say otherwise. */
const parseRobots = robotsParser as unknown as typeof robotsParser.default
const MOST_REDIRECTS = 5 // chapter 2.3.1.2, to whatever host
/** The lines that count. The rest is left out before it is parsed, as it may stand inside a group without ending it. */
const LINE = /^[\ufeff\t ]*(user-agent|allow|disallow)[\t ]*:[\t ]*([^#]*)/i

export function openRobots({ userAgent, limits, now = Date.now }: RobotsOptions): Robots {
  const known = new Recent<string, { allowed: boolean; until: number }>(limits.robotsKept)

  return {
    async mayFetch(origin, get) {
      const entry = known.get(origin)
      if (entry !== undefined && entry.until > now()) {
        known.use(origin, entry)
        return entry.allowed
      }
      const text = await fetchInTime(new URL('/robots.txt', origin), get, limits)
      if (text === null) return false
      const allowed = allows(text, origin, userAgent)
      known.use(origin, { allowed, until: now() + limits.robotsLife })
      return allowed
    },
  }
}

/** Whether the text of robots.txt allows an agent to fetch `/`. Linear in the text, whatever it holds. */
export function allows(text: string, origin: string, userAgent: string): boolean {
  const parsed = parseRobots(`${origin}/robots.txt`, ourLines(text, userAgent))
  return parsed.isAllowed(`${origin}/`, userAgent) ?? true
}

/**
 * The groups for this agent and for all, every other agent under one name and each agent once a group: the parser keeps each
 * rule once for each agent that its group names, which is quadratic for a hostile file.
 */
function ourLines(text: string, userAgent: string): string {
  const [product = ''] = userAgent.toLowerCase().split(/[/ ]/, 1)
  const lines: string[] = []
  const named = new Set<string>() // since the last rule
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, field = '', value = ''] = LINE.exec(line) ?? []
    if (field === '') continue
    const isAgent = field.toLowerCase() === 'user-agent'
    const kept = isAgent ? `user-agent: ${agentOf(value, product)}` : `${field}:${value}`
    if (!isAgent) named.clear()
    if (!named.has(kept)) lines.push(kept)
    if (isAgent) named.add(kept)
  }
  return lines.join('\n')
}

function agentOf(value: string, product: string): string {
  const [token = ''] = value.trim().toLowerCase().split('/', 1)
  return token === product || token === '*' ? token : 'another'
}

/** Null also after its time; then nothing more is asked, as the connections serve the page again. */
async function fetchInTime(start: URL, get: Get, limits: WebLimits): Promise<string | null> {
  let stop = () => {}
  let isLate = false
  const late = new Promise<null>((resolve) => {
    stop = waitFor(limits.robots, () => {
      isLate = true
      resolve(null)
    })
  })
  const timely: Get = async (url) => (isLate ? 'silent' : get(url))
  return Promise.race([fetchRobots(start, timely, limits), late]).finally(stop)
}

/** The text of robots.txt: '' where there is none, null where that is not known (chapter 2.3.1.4). */
async function fetchRobots(start: URL, get: Get, limits: WebLimits): Promise<string | null> {
  let url = start
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const reply = await get(url)
    if (typeof reply === 'string') return null
    if (reply.status < 300) return readText(reply, limits)
    const to = reply.status < 400 ? locationOf(reply, url) : null
    reply.drop()
    if (reply.status >= 500) return null
    if (to === null || !isLookedAt(to)) return ''
    url = to
  }
  return ''
}

/** The first of the text; null where it broke off before its bound. */
async function readText(reply: Reply, limits: WebLimits): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const bounds = { ...limits, wireBytes: limits.robotsBytes, decodedBytes: limits.robotsBytes }
  const reading = await reply.read((chunk) => {
    chunks.push(chunk)
    bytes += chunk.length
  }, bounds)
  if (reading !== 'whole' && bytes < limits.robotsBytes) return null
  return new TextDecoder().decode(Buffer.concat(chunks))
}
