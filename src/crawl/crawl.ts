/** The crawl of one domain: the seven types asked at once, then the web; what came back is the visit. */

import type { Address } from '../words/address.ts'
import type { Name } from '../words/name.ts'
import { RECORD_TYPES, type RecordType } from '../words/record.ts'
import type { Instant } from '../words/time.ts'
import type { Resolver } from './dns.ts'
import type { Answer, DnsSeen, Visit, WebSeen } from './visit.ts'
import type { Known, Web } from './web.ts'
import { addressesOf } from './web-addresses.ts'

export type Crawler = {
  /**
   * `turns`: addresses where it has its turn already (pace.ts). Never rejects for what the internet does, and is over after
   * `milliseconds` at the latest.
   */
  visit(domain: Name, turns?: readonly Address[]): Promise<Visit>
  close(): Promise<void>
}

/** Milliseconds of a whole visit; what is not answered by then is left out, as the resolver gives up long before. */
export const VISIT_MILLISECONDS = 60_000

type CrawlerOptions = { resolver: Resolver; web: Web; now: () => Instant; milliseconds?: number }

/** Takes the resolver and the web over: `close` closes both. `now` is the time that visits carry; `milliseconds` bounds each. */
export function openCrawler({ resolver, web, now, milliseconds = VISIT_MILLISECONDS }: CrawlerOptions): Crawler {
  return {
    async visit(domain, turns = []) {
      const at = now()
      const over = deadline(milliseconds)
      let held: Address | null = null
      const onHeld = (address: Address): void => {
        held = address
      }
      const look: Look = (known) => Promise.race([web.look(domain, { ...known, turns, onHeld }), over.passed])
      try {
        const dns = await askAll(resolver, domain, over.passed)
        const seen = await lookAt(dns, look)
        return { domain, at, dns, web: seen, ...(held === null ? {} : { held }) }
      } finally {
        over.end()
      }
    },
    async close() {
      await Promise.all([web.close(), resolver.close()])
    },
  }
}

/** Null where the resolver could not be asked for a single type. Types that are not asked in time are left out. */
async function askAll(resolver: Resolver, domain: Name, passed: Promise<null>): Promise<DnsSeen | null> {
  const asked = RECORD_TYPES.map(
    async (type): Promise<[RecordType, Answer | null]> => [
      type,
      await Promise.race([resolver.ask(domain, type), passed]),
    ],
  )
  const answered = (await Promise.all(asked)).filter(([, answer]) => answer !== null)
  return answered.length === 0 ? null : Object.fromEntries(answered)
}

type Look = (known: Known) => Promise<WebSeen | null>

/**
 * Null where the name does not exist or its servers fail, and where nobody knows whether it has an address: A or AAAA was
 * not answered, and the other one has none.
 */
async function lookAt(dns: DnsSeen | null, look: Look): Promise<WebSeen | null> {
  const families = [dns?.A, dns?.AAAA]
  const addresses = families.flatMap(addressesOf)
  if (addresses.length === 0 && families.some((answer) => answer?.outcome !== 'records')) return null
  return look({ addresses, unknown: families.includes(undefined) })
}

function deadline(milliseconds: number): { passed: Promise<null>; end(): void } {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null)
  })
  return { passed, end: () => clearTimeout(timer) }
}
