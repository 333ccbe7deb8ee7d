/** robots.txt (RFC 9309): whether the crawler may fetch the start page of an origin. */

import robotsParser from 'robots-parser'
import type { ConnectFailure } from '../http/connect.ts'
import type { HttpResponse } from '../http/exchange.ts'
import type { WebLimits } from '../http/limits.ts'
import { isProbeable, redirectLocation } from '../http/redirect-location.ts'
import { LruMap } from '../lru-map.ts'
import { setStallTolerantTimeout } from '../stall-timer.ts'

type HttpGet = (url: URL) => Promise<HttpResponse | ConnectFailure>

/** The cached robots.txt result of each origin. */
export type RobotsCache = {
  /** Whether `/` of an origin may be fetched. Fetches robots.txt with `get` if the result is not cached. */
  mayFetch(origin: string, get: HttpGet): Promise<boolean>
}

/** `now`: milliseconds. */
type RobotsOptions = { userAgent: string; limits: WebLimits; now?: () => number }

/** The package exports the function itself, but its types declare a default export. */
const parseRobots = robotsParser as unknown as typeof robotsParser.default
const MAX_ROBOTS_REDIRECTS = 5 // section 2.3.1.2, to any host
/**
 * The relevant lines. Other lines are removed before parsing, because they may appear inside a group without ending it.
 */
const RULE_LINE = /^[\ufeff\t ]*(user-agent|allow|disallow)[\t ]*:[\t ]*([^#]*)/i

export function createRobotsCache({ userAgent, limits, now = Date.now }: RobotsOptions): RobotsCache {
  const cache = new LruMap<string, { allowed: boolean; until: number }>(limits.maxRobotsCached)

  return {
    async mayFetch(origin, get) {
      const entry = cache.get(origin)
      if (entry !== undefined && entry.until > now()) {
        cache.set(origin, entry)
        return entry.allowed
      }
      const text = await fetchRobotsInTime(new URL('/robots.txt', origin), get, limits)
      if (text === null) return false
      const allowed = robotsAllow(text, origin, userAgent)
      cache.set(origin, { allowed, until: now() + limits.robotsCacheMs })
      return allowed
    },
  }
}

/** Whether the text of robots.txt allows an agent to fetch `/`. Takes linear time for any text. */
export function robotsAllow(text: string, origin: string, userAgent: string): boolean {
  const parsed = parseRobots(`${origin}/robots.txt`, relevantLines(text, userAgent))
  return parsed.isAllowed(`${origin}/`, userAgent) ?? true
}

/**
 * Keeps the groups for this agent and for all agents. It renames all other agents to one name and keeps each agent once
 * per group. The parser stores each rule once per agent of its group, which is quadratic for a hostile file.
 */
function relevantLines(text: string, userAgent: string): string {
  const [product = ''] = userAgent.toLowerCase().split(/[/ ]/, 1)
  const lines: string[] = []
  const named = new Set<string>() // since the last rule
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, field = '', value = ''] = RULE_LINE.exec(line) ?? []
    if (field === '') continue
    const isAgent = field.toLowerCase() === 'user-agent'
    const normalized = isAgent ? `user-agent: ${relevantAgent(value, product)}` : `${field}:${value}`
    if (!isAgent) named.clear()
    if (!named.has(normalized)) lines.push(normalized)
    if (isAgent) named.add(normalized)
  }
  return lines.join('\n')
}

function relevantAgent(value: string, product: string): string {
  const [token = ''] = value.trim().toLowerCase().split('/', 1)
  return token === product || token === '*' ? token : 'another'
}

/** Returns null also after its time limit. Then it sends no more requests, because the page needs the connections. */
async function fetchRobotsInTime(start: URL, get: HttpGet, limits: WebLimits): Promise<string | null> {
  let cancelTimeout = () => {}
  let hasTimedOut = false
  const timedOut = new Promise<null>((resolve) => {
    cancelTimeout = setStallTolerantTimeout(limits.robotsMs, () => {
      hasTimedOut = true
      resolve(null)
    })
  })
  const getInTime: HttpGet = async (url) => (hasTimedOut ? 'no_response' : get(url))
  return Promise.race([fetchRobots(start, getInTime, limits), timedOut]).finally(cancelTimeout)
}

/** The text of robots.txt. Returns '' if there is none, and null if that is unknown (section 2.3.1.4). */
async function fetchRobots(start: URL, get: HttpGet, limits: WebLimits): Promise<string | null> {
  let url = start
  for (let redirects = 0; redirects <= MAX_ROBOTS_REDIRECTS; redirects++) {
    const reply = await get(url)
    if (typeof reply === 'string') return null
    if (reply.status < 300) return readRobotsText(reply, limits)
    const to = reply.status < 400 ? redirectLocation(reply, url) : null
    reply.discard()
    if (reply.status >= 500) return null
    if (to === null || !isProbeable(to)) return ''
    url = to
  }
  return ''
}

/** Reads the text up to its size limit. Returns null if the body ended before that. */
async function readRobotsText(reply: HttpResponse, limits: WebLimits): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const bodyLimits = { ...limits, wireBytes: limits.robotsBytes, decodedBytes: limits.robotsBytes }
  const result = await reply.read((chunk) => {
    chunks.push(chunk)
    bytes += chunk.length
  }, bodyLimits)
  if (result !== 'whole' && bytes < limits.robotsBytes) return null
  return new TextDecoder().decode(Buffer.concat(chunks))
}
