/**
 * What the simulated service must know: a model of the facts, and of what lists, calls and watches add to it. It is
 * certain of what was acknowledged. What a process was doing when it died may have happened or not.
 */

import type { Observation } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { addDays, type Day, formatInstant, type Instant, SECONDS_PER_DAY } from '../../src/values/time.ts'
import { Model } from '../store/model.ts'
import type { ACCOUNTS, Sighting } from './steps.ts'
import { modelView, watchedView } from './views.ts'
import type { World } from './world.ts'

/**
 * A file of the inbox. `contents`: what it may have registered; the last one is that of the newest file, as are `names`.
 */
type Source = { contents: ReadonlySet<string>[]; names: Names; isWaiting: boolean }
type Names = readonly DomainName[]
/** How many events a time may have: observations of the same time may be one event if a transaction has all of them. */
type EventCount = { least: number; most: number }
/** A watch of a name, and how many events each time has at which an observation changed what is known of it. */
type ExpectedEvents = {
  account: number
  watch: number
  name: DomainName
  times: Map<Instant, EventCount>
  isActive: boolean
}

/** One run of a simulation. */
export type Run = { world: World; expected: Expectations }

export class Expectations {
  readonly facts = new Model(Number.POSITIVE_INFINITY)
  readonly forgotten = new Set<DomainName>()
  /** Names that an import may have added. */
  readonly #maybeKnown = new Set<DomainName>()
  /** By day and file. */
  readonly #sources = new Map<Day, Map<string, Source>>()
  /** The names of the zone on each day. */
  readonly #zones = new Map<Day, ReadonlySet<string>>()
  /** The day on which a process of the API last died: units that it had leased may not be settled. */
  serverDiedOn: Day | null = null
  /** When jobs last failed or died. They are tried again minutes later, or in the next round. */
  jobsDisturbedAt: Instant = 0
  /** Answered calls that cost a unit, by account and day. */
  readonly #answered = new Map<string, number>()
  readonly #paidFiles = new Set<string>()
  readonly #watches: ExpectedEvents[] = []
  /** The plan of the first account, which has no period. */
  plan: (typeof ACCOUNTS)[number] = 'free'

  /** Applies observations that were acknowledged, one transaction. */
  observe(observations: readonly Observation[]): void {
    const changed = new Set<string>()
    for (const observation of observations) {
      const { domain, observed_at } = observation
      const watches = this.#watches.filter(({ isActive, name }) => isActive && name === domain)
      const before = watches.length > 0 && watchedView(this.facts, domain)
      this.facts.observe(observation)
      if (!before || watchedView(this.facts, domain) === before) continue
      const isFirst = !changed.has(`${domain} ${observed_at}`)
      changed.add(`${domain} ${observed_at}`)
      for (const { times } of watches) {
        const { least, most } = times.get(observed_at) ?? { least: 0, most: 0 }
        times.set(observed_at, { least: least + Number(isFirst), most: most + 1 })
      }
    }
  }

  /** Whether the jobs of the last day may not have come to their end. */
  areJobsDisturbed(now: Instant): boolean {
    return now - this.jobsDisturbedAt <= SECONDS_PER_DAY
  }

  stateOf(names: Names, facts = this.facts): string {
    return names.map((name) => modelView(facts, name)).join('\n')
  }

  stateAfter(names: Names, observations: readonly Observation[]): string {
    const facts = this.facts.copy()
    for (const observation of observations) facts.observe(observation)
    return this.stateOf(names, facts)
  }

  /** Counts an answered call. */
  count(account: number, day: Day): void {
    this.#answered.set(`${account} ${day}`, this.answered(account, day) + 1)
  }

  /** Counts the download of a file, which costs a unit once a day. */
  pay(account: number, day: Day, file: string): void {
    const paid = `${account} ${day} ${file}`
    if (this.#paidFiles.has(paid)) return
    this.#paidFiles.add(paid)
    this.count(account, day)
  }

  answered(account: number, day: Day): number {
    return this.#answered.get(`${account} ${day}`) ?? 0
  }

  watch(account: number, watch: number, name: DomainName): void {
    this.#watches.push({ account, watch, name, times: new Map(), isActive: true })
  }

  watchesOf(account: number): readonly ExpectedEvents[] {
    return this.#watches.filter((each) => each.account === account)
  }

  endWatch(watch: number): void {
    for (const each of this.#watches) if (each.watch === watch) each.isActive = false
  }

  know(names: Names): void {
    for (const domain of names) this.facts.observe({ domain, observed_at: 0, dns: null, web: null })
  }

  forget(name: DomainName): void {
    this.facts.forget(name)
    this.forgotten.add(name)
    this.#maybeKnown.delete(name)
    for (const watch of this.#watches) if (watch.name === name) watch.times.clear() // its events go too
  }

  /** The name may be known: what the store says counts. */
  settle(name: DomainName, isKnown: boolean): void {
    if (!isKnown) return
    this.know([name])
    this.#maybeKnown.delete(name)
  }

  /** The zone of a day, after those of all earlier days. It registers what the last one of the week before lacks. */
  putZone(day: Day, file: string, names: Names): void {
    const former = [...this.#zones.keys()]
      .filter((each) => each < day)
      .sort()
      .at(-1)
    const isFirst = former === undefined || former < addDays(day, -7)
    const before = isFirst ? new Set<string>(names) : this.#zones.get(former)!
    this.#zones.set(day, new Set<string>(names))
    this.put(day, file, names, (name) => !before.has(name))
  }

  /** A list of a day. `isRegistered`: whether it says that a name was registered. */
  put(day: Day, file: string, names: Names, isRegistered: (name: string) => boolean = () => true): void {
    const sources = this.#sources.get(day) ?? new Map<string, Source>()
    this.#sources.set(day, sources)
    const registered = new Set<string>(names.filter(isRegistered))
    const contents = [...(sources.get(file)?.contents ?? [new Set<string>()]), registered]
    sources.set(file, { contents, names, isWaiting: true })
    for (const name of names) if (!this.forgotten.has(name)) this.#maybeKnown.add(name)
  }

  /** Returns what is wrong with the import of a file, or null. */
  imported(day: Day, file: string): string | null {
    const source = this.#sources.get(day)?.get(file)
    if (source === undefined) return `${file} was imported, and nobody has put it into the inbox`
    if (!source.isWaiting) return `${file} was imported again`
    source.isWaiting = false
    source.contents = source.contents.slice(-1)
    this.know(source.names.filter((name) => !this.forgotten.has(name)))
    return null
  }

  hasFile(day: Day, file: string): boolean {
    return this.#sources.get(day)?.has(file) ?? false
  }

  uncertainNames(): DomainName[] {
    return [...this.#maybeKnown]
  }

  days(): Day[] {
    return [...this.#sources.keys()].sort()
  }

  /** The days were pruned, except what still waits in the inbox. */
  forgetDaysBefore(before: Day): void {
    for (const [day, sources] of this.#sources) {
      if (day >= before) continue
      for (const [file, source] of sources)
        if (source.isWaiting) source.contents = [new Set(), source.contents.at(-1)!]
        else sources.delete(file)
    }
  }

  /** The names that a day must have, and those that it may have. `isOld`: it may have been pruned. */
  namesOfDay(day: Day, isOld = false): { required: Set<string>; allowed: Set<string> } {
    const sources = [...(this.#sources.get(day)?.values() ?? [])]
    const required = new Set<string>()
    const allowed = new Set<string>()
    for (const { contents } of sources) {
      for (const content of contents) for (const name of content) allowed.add(name)
      for (const name of contents[0]!) if (contents.every((content) => content.has(name))) required.add(name)
    }
    return { required: isOld ? new Set() : required, allowed }
  }
}

/** The observations of a step, as the lines of a file say them. */
export function observationsOf(sightings: readonly Sighting[], now: Instant): Observation[] {
  return sightings.map(({ name, age, dns, web }) => {
    const line = { domain: name, observed_at: `${formatInstant(now - age)}Z`, dns, web }
    const observation = parseObservation(JSON.stringify(line))
    if (typeof observation === 'string') throw new Error(observation)
    return observation
  })
}
