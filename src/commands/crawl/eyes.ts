/** The eyes of a crawl that goes on and on: what visits are made with, their pace, and the questions by which it knows that it sees. */

import { SETTINGS, type Settings } from '../../config.ts'
import type { ControlPlan } from '../../crawl/control-plan.ts'
import { shownServer } from '../../crawl/control-questions.ts'
import { openControls, type Verdict } from '../../crawl/controls.ts'
import { type Crawler, openCrawler } from '../../crawl/crawl.ts'
import { openResolver, type Resolver, type Server } from '../../crawl/dns.ts'
import { Paths } from '../../crawl/dns-path.ts'
import { guardFamilies } from '../../crawl/families.ts'
import { type OptOut, OptOutFault, openOptOut } from '../../crawl/opt-out.ts'
import { makePace, type Pace } from '../../crawl/pace.ts'
import { openWeb } from '../../crawl/web.ts'
import type { WebLimits } from '../../crawl/web-limits.ts'
import type { Sight } from '../../schedule/crawl.ts'
import type { Address } from '../../words/address.ts'
import type { Instant } from '../../words/time.ts'
import { CommandFault } from '../fault.ts'
import type { Reach } from './reach.ts'

export type Eyes = {
  visit: Crawler['visit']
  isOwn(address: Address): boolean
  /** Asks the control questions. */
  look(): Promise<Sight>
  pace: Pace
  /** Whether any resolver answers a question, whatever it says. */
  answers(): Promise<boolean>
  /** How often resolvers disagreed. */
  disagreements(): number
  leftOut(): LeftOut
  close(): Promise<void>
}

/** How many resolvers are not asked, and 1 for a family of addresses that is not connected to, as of the last look. */
export type LeftOut = Readonly<Record<'resolvers' | 'ipv4' | 'ipv6', number>>

type EyesOptions = Reach & {
  plan: ControlPlan
  optOut: Pick<OptOut, 'hasName'>
  /** The time that visits carry. */
  now: () => Instant
  /** Told of what is looked at without, whenever that changes. */
  say?: (news: string) => void
  /** PEM, trusted beside Node's own. */
  roots?: readonly string[]
  limits?: Partial<WebLimits>
  /** Milliseconds until a question of a visit, and one of the controls, is given up. */
  timeout?: number
  /** Milliseconds before a server is asked again that failed. */
  pause?: number
  patience?: number
}

const HTTPS = 443
const EDNS = 'questions with EDNS get no answer from'
const EDNS_ADVICE =
  'they are asked without it, and long answers come over TCP; let UDP packets with EDNS (RFC 6891) through, or name another resolver'

const ticks = (): number => performance.now()

export async function openEyes(options: EyesOptions): Promise<Eyes> {
  const { servers, plan, optOut, userAgent, now, roots, limits, timeout, pause, patience, say } = options
  const paths = new Paths()
  const resolver = await openResolver({ servers, paths, ...(timeout && { timeout }), ...(pause && { pause }) })
  const guard = guardFamilies(options.guard)
  const controls = openControls({
    servers,
    plan,
    resolver,
    guard,
    paths,
    ...(patience === undefined ? {} : { patience }),
  })
  const pace = makePace({ ticks })
  const web = openWeb({ resolver, guard, pace, optOut, userAgent, ...(roots && { roots }), ...(limits && { limits }) })
  const crawler = openCrawler({ resolver, web, now })
  let leftOut: LeftOut = { resolvers: 0, ipv4: 0, ipv6: 0 }
  const tell = tellerOf(say)
  const look = async (): Promise<Sight> => {
    const verdict = await controls.check()
    if (!verdict.sees) return verdict
    const { without, families } = verdict
    leftOut = { resolvers: without.length, ipv4: Number(!families[4]), ipv6: Number(!families[6]) }
    tell(verdict, resolver.withoutEdns())
    return verdict
  }
  return {
    visit: crawler.visit,
    isOwn: (address) => options.guard.vet(address, HTTPS)?.own === true,
    look,
    pace,
    answers: () => answers(resolver),
    disagreements: () => resolver.disagreements(),
    leftOut: () => leftOut,
    async close() {
      await Promise.all([controls.close(), crawler.close()])
    },
  }
}

async function answers(resolver: Resolver): Promise<boolean> {
  const answer = await resolver.ask('.', 'NS')
  return answer !== null && !(answer.outcome === 'failed' && answer.why === 'timeout')
}

/** Tells what is left out, and to whom EDNS does not get through, whenever that changes. */
function tellerOf(say: ((news: string) => void) | undefined) {
  let [told, withoutEdns] = ['', '']
  return (verdict: Verdict & { sees: true }, servers: readonly Server[]): void => {
    const words = wordsOf(verdict)
    if (words !== told) say?.(words === '' ? 'nothing is left out any more' : `left out: ${words}`)
    told = words
    const dropped = servers.map(shownServer).join(' and ')
    if (dropped !== '' && dropped !== withoutEdns) say?.(`${EDNS} resolver ${dropped}: ${EDNS_ADVICE}`)
    withoutEdns = dropped
  }
}

/** '' where nothing is left out. */
function wordsOf({ without, families }: Verdict & { sees: true }): string {
  const closed = ([4, 6] as const).filter((family) => !families[family])
  return [...without, ...closed.map((family) => `no control address can be reached over IPv${family}`)].join('; ')
}

/** The list that the settings name. Throws CommandFault for one that cannot be used. */
export function optOutOf({ crawlOptOut: path }: Settings, say: (words: string) => void): OptOut {
  if (path === null) return { hasName: () => false, hasAddress: () => false, close: () => {} }
  try {
    return openOptOut(path, { ticks, say })
  } catch (error) {
    if (error instanceof OptOutFault) throw new CommandFault(`${error.message} (${SETTINGS.crawlOptOut.name})`)
    throw error
  }
}
