/** The steps of a simulation: what happens to the service, drawn from a seed. A step is plain data, so it can be replayed. */

import { type RandomSource, randomChoice, randomInt, seededRandom } from '../../bench/world/random.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { Disturbance } from './simulated-process.ts'

export const NAMES = Array.from({ length: 24 }, (_, index) => `name-${index}.test` as DomainName)
const ADDRESSES = ['192.0.2.1', '192.0.2.2', '198.51.100.3', '2001:db8::1', '2001:db8::2']
const HOSTS = ['ns1.example', 'ns2.example', 'mail.example']
const LISTS = ['ours', 'theirs', null]
/** The names of the accounts: one of each plan. */
export const ACCOUNTS = ['free', 'basic', 'premium'] as const
export const QUERY_ENDPOINTS = [
  'lookup',
  'dnshistory',
  'redirect',
  'reverseip',
  'daily',
  'snapshot',
  'similar',
] as const
type QueryEndpoint = (typeof QUERY_ENDPOINTS)[number]

const MINUTE = 60
const HOUR = 3_600
const DAY = 86_400

/** `age`: seconds since the observation. The parts are as in a line of a file. */
export type Sighting = { name: DomainName; age: number; dns?: object; web?: object }

type Action =
  | { kind: 'observe'; sightings: Sighting[] }
  | { kind: 'call'; endpoint: QueryEndpoint; account: number; name: DomainName; address: string | null; limit: number }
  | { kind: 'pass'; seconds: number }
  | { kind: 'list'; list: string | null; daysAgo: number; names: DomainName[] }
  | { kind: 'zone'; names: DomainName[] }
  | { kind: 'jobs' }
  | { kind: 'forget'; name: DomainName }
  | { kind: 'watch'; account: number; name: DomainName }
  | { kind: 'unwatch'; account: number; name: DomainName }
  | { kind: 'events'; account: number }
  | { kind: 'plan'; account: number; plan: number }
  | { kind: 'token'; account: number }
  | { kind: 'settle' }
  | { kind: 'restart' }
  | { kind: 'power' }
  | { kind: 'audit' }
export type ActionKind = Action['kind']

/**
 * `disturbance`: what happens during the step. `losesPower`: if a process dies, the machine loses its power. `salt`: which
 * part of the changes that were not synced is lost then.
 */
export type Step = Action & { disturbance: Disturbance | null; losesPower: boolean; salt: number }

type Draw<Kind extends ActionKind> = (random: RandomSource) => Omit<Extract<Action, { kind: Kind }>, 'kind'>

/** How often each kind is drawn, and what it consists of. */
const KINDS: { readonly [Kind in ActionKind]: [weight: number, draw: Draw<Kind>] } = {
  observe: [30, (random) => ({ sightings: some(random, 4, sighting) })],
  call: [
    28,
    (random) => ({
      endpoint: randomChoice(random, QUERY_ENDPOINTS),
      account: randomInt(random, ACCOUNTS.length),
      name: randomChoice(random, NAMES),
      address: random() < 0.3 ? randomChoice(random, ADDRESSES) : null,
      limit: 1 + randomInt(random, 12),
    }),
  ],
  pass: [
    12,
    (random) => ({
      seconds: randomInt(random, randomChoice(random, [MINUTE, MINUTE, MINUTE, HOUR, HOUR, HOUR, DAY, 100 * DAY])),
    }),
  ],
  list: [
    8,
    (random) => ({ list: randomChoice(random, LISTS), daysAgo: randomInt(random, 4), names: someNames(random) }),
  ],
  zone: [2, (random) => ({ names: someNames(random) })],
  jobs: [4, () => ({})],
  forget: [0.2, (random) => ({ name: randomChoice(random, NAMES) })],
  watch: [2, (random) => ({ account: randomInt(random, ACCOUNTS.length), name: randomChoice(random, NAMES) })],
  unwatch: [0.5, (random) => ({ account: randomInt(random, ACCOUNTS.length), name: randomChoice(random, NAMES) })],
  events: [3, (random) => ({ account: randomInt(random, ACCOUNTS.length) })],
  plan: [0.5, (random) => ({ account: randomInt(random, ACCOUNTS.length), plan: randomInt(random, ACCOUNTS.length) })],
  token: [0.5, (random) => ({ account: randomInt(random, ACCOUNTS.length) })],
  settle: [3, () => ({})],
  restart: [0.2, () => ({})],
  power: [0.7, () => ({})],
  audit: [1, () => ({})],
}

const TOTAL_WEIGHT = Object.values(KINDS).reduce((sum, [weight]) => sum + weight, 0)
/** The share of disturbed steps: of jobs, which have many calls, and of the rest. */
const DISTURBED_JOBS = 0.3
const DISTURBED_STEPS = 0.04
const MAX_CALL = 300
const ERROR_CODES = ['ENOSPC', 'EIO', 'EDQUOT']

/** The steps of a seed. */
export function stepsOf(seed: number, count: number): Step[] {
  const random = seededRandom(seed, 0, 3)
  return Array.from({ length: count }, () => {
    let place = random() * TOTAL_WEIGHT
    for (const [kind, [weight, draw]] of Object.entries(KINDS)) {
      place -= weight
      if (place <= 0) return { kind, ...draw(random), ...disturbanceOf(kind, random) } as Step
    }
    return { kind: 'audit', ...disturbanceOf('audit', random) }
  })
}

function disturbanceOf(kind: string, random: RandomSource): Pick<Step, 'disturbance' | 'losesPower' | 'salt'> {
  const salt = randomInt(random, 2 ** 31)
  if (random() >= (kind === 'jobs' ? DISTURBED_JOBS : DISTURBED_STEPS))
    return { disturbance: null, losesPower: false, salt }
  const call = 1 + Math.floor(MAX_CALL ** random())
  const what = randomChoice(random, ['die before', 'die after', 'fail', 'tear'] as const)
  const disturbance =
    what === 'fail' || what === 'tear' ? { call, what, code: randomChoice(random, ERROR_CODES) } : { call, what }
  return { disturbance, losesPower: random() < 0.5, salt }
}

function some<Value>(random: RandomSource, max: number, draw: (random: RandomSource) => Value): Value[] {
  return Array.from({ length: 1 + randomInt(random, max) }, () => draw(random))
}

function someNames(random: RandomSource): DomainName[] {
  return [...new Set(some(random, 6, (each) => randomChoice(each, NAMES)))].sort()
}

function sighting(random: RandomSource): Sighting {
  const age = random() < 0.8 ? randomInt(random, 3) : randomInt(random, 3 * DAY)
  const what = random()
  return {
    name: randomChoice(random, NAMES),
    age,
    ...(what < 0.75 && { dns: dnsPart(random) }),
    ...(what > 0.6 && { web: webPart(random) }),
  }
}

function dnsPart(random: RandomSource): object {
  if (random() < 0.1) return { status: randomChoice(random, ['nxdomain', 'servfail']) }
  const addresses = random() < 0.9 ? some(random, 2, (each) => randomChoice(each, ADDRESSES)) : []
  return {
    status: 'ok',
    A: [...new Set(addresses.filter((each) => !each.includes(':')))],
    AAAA: [...new Set(addresses.filter((each) => each.includes(':')))],
    ...(random() < 0.5 && { NS: [randomChoice(random, HOSTS)] }),
    ...(random() < 0.3 && { MX: [{ priority: 10, mail_server: randomChoice(random, HOSTS) }] }),
    ...(random() < 0.3 && { TXT: [[randomChoice(random, ['one', 'two', 'three'])]] }),
  }
}

function webPart(random: RandomSource): object {
  const redirects_to = random() < 0.5 ? randomChoice(random, NAMES) : null
  return {
    has_website: redirects_to === null,
    redirect_to_https: random() < 0.5,
    redirect_to_www: false,
    only_with_www: false,
    redirects_to,
    ssl: randomChoice(random, ['valid', 'nocert', 'invalid']),
    social_accounts: [],
  }
}
