/** The controls: whether the crawler can trust its own eyes, and which of its eyes are left out while it cannot. */

import { Outlook } from './control-addresses.ts'
import type { ControlPlan } from './control-plan.ts'
import { Examiner } from './control-questions.ts'
import type { Server, ServerResolver } from './dns.ts'
import { Paths } from './dns-path.ts'
import type { Families, FamilyGuard } from './families.ts'

/**
 * `sees`: nothing was lost since the check before, so that what was seen meanwhile is to be believed. `families`: over which
 * the internet is looked at. `without`: what is wrong with each resolver that is left out. `why`: for operators, as in
 * "resolver 192.0.2.1 gives no SOA of com".
 */
export type Verdict = { sees: true; families: Families; without: readonly string[] } | { sees: false; why: string }

export type Controls = {
  /**
   * Asks every resolver on its own, and connects to one address of each family; over within 5 s, checks one after another.
   * A resolver that fails is left out until a check finds it well, a family that is not reached is closed. Where there was a
   * check before and one more is lost now, this one check does not see, the next one may: what was seen since then may be
   * the fault's. Never rejects.
   */
  check(): Promise<Verdict>
  close(): Promise<void>
}

export type ControlOptions = {
  servers: readonly Server[]
  plan: ControlPlan
  /** Told of the resolvers that are left out, and of the families that are open. */
  resolver: Pick<ServerResolver, 'leaveOut'>
  guard: Pick<FamilyGuard, 'open'>
  /** Milliseconds until an attempt to ask a resolver is given up; a check takes four times that, and 4.5 s at least where no address is reached. */
  patience?: number
  /** Those of the resolver, so that questions of both are counted together. */
  paths?: Paths
}

/** What a check came upon: of each resolver what is wrong with it, by its number, and the families; null: not asked. */
type Sight = { faults: readonly (string | null)[]; reached: Readonly<Record<4 | 6, boolean | null>> }

const PATIENCE_MILLISECONDS = 1200
const NEITHER =
  'no control address of any family can be reached: where TCP to port 53 of the root servers is closed to this machine, let it through, or set DOMAINDEX_CRAWL_CONTROLS to addresses that take a TCP connection whenever the internet is there, such as addresses=ADDRESS:443,[ADDRESS]:443, or to addresses=none to do without'

export function openControls(options: ControlOptions): Controls {
  const { servers, plan, resolver, guard, patience = PATIENCE_MILLISECONDS, paths = new Paths() } = options
  const examiners = servers.map((server) => new Examiner(server, plan, patience, paths))
  const outlooks = { 4: new Outlook(plan.addresses, 4), 6: new Outlook(plan.addresses, 6) }
  let before: Sight | null = null
  let last: Promise<unknown> = Promise.resolve()

  const look = async (): Promise<Verdict> => {
    const [faults, fourth, sixth] = await Promise.all([
      Promise.all(examiners.map((examiner) => examiner.fault())),
      outlooks[4].reaches(),
      outlooks[6].reaches(),
    ])
    const sight: Sight = { faults, reached: { 4: fourth, 6: sixth } }
    resolver.leaveOut(servers.filter((_, index) => faults[index] !== null))
    guard.open(familiesOf(sight))
    const verdict = judge(sight, before)
    before = sight
    return verdict
  }

  return {
    check() {
      const checked = last.then(look)
      last = checked
      return checked
    },
    async close() {
      for (const each of [...examiners, outlooks[4], outlooks[6]]) each.close()
    },
  }
}

function judge(sight: Sight, before: Sight | null): Verdict {
  const { faults, reached } = sight
  const without = faults.filter((fault) => fault !== null)
  if (without.length === faults.length) return { sees: false, why: without.join('; ') || 'no resolver is named' }
  if (!reached[4] && !reached[6] && (reached[4] ?? reached[6]) !== null) return { sees: false, why: NEITHER }
  const lost = before === null ? [] : lossesOf(sight, before)
  return lost.length > 0 ? { sees: false, why: lost.join('; ') } : { sees: true, families: familiesOf(sight), without }
}

/** What was well at the check before, and is not any more. */
function lossesOf({ faults, reached }: Sight, before: Sight): string[] {
  const resolvers = faults.filter((fault, index) => fault !== null && before.faults[index] === null)
  const families = ([4, 6] as const)
    .filter((family) => before.reached[family] === true && reached[family] === false)
    .map((family) => `no control address can be reached over IPv${family} any more`)
  return [...resolvers.filter((fault) => fault !== null), ...families]
}

/** A family that is not asked for is as open as ever. */
function familiesOf({ reached }: Sight): Families {
  return { 4: reached[4] !== false, 6: reached[6] !== false }
}
