/** The events of the watches that a change matches. Pure. */

import type { Change, FactChanges, Transition } from '../apply/change.ts'
import { type TermVector, termVectorOf } from '../similar/text/term-vector.ts'
import type { Certificate } from '../values/certificate/certificate.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { Instant } from '../values/time.ts'
import type { DifferenceType } from '../values/watch-kind.ts'
import { type Difference, differencesOf, loggedDifference } from './difference.ts'
import { watchesOfCertificate, watchesOfTransition } from './subjects.ts'
import type { Watch } from './watch.ts'
import type { WatchIndex } from './watch-index.ts'

/**
 * An event: the differences of one observation that a watch matches. `name`: null for a certificate that a log
 * published. `observed_at`: null for a name of a list, which has no time.
 */
export type WatchEvent = {
  account: number
  watch: number
  name: DomainName | null
  observed_at: Instant | null
  differences: Difference[]
}

/** Whether the events of a change need the text of the name's start page before the change. */
export function needsFormerText(index: WatchIndex, { state, facts }: Change): boolean {
  return facts !== null && facts.terms !== undefined && index.ofText(state.name).length > 0
}

/**
 * The events of a change that was written, in the order of its observations, then of the watches. `formerText`: the
 * words of the start page before the change, null if there was no text or `needsFormerText` is false.
 */
export function watchEventsOf(
  index: WatchIndex,
  { state, facts }: Change,
  formerText: TermVector | null,
): WatchEvent[] {
  if (facts === null && state.version > 0) return []
  const { transitions, certificates } = facts ?? ONLY_NEW
  const ofName = index.ofName(state.name)
  const isWatched = (transition: Transition): boolean =>
    transition.type === 'text'
      ? index.ofText(state.name).length > 0
      : watchesOfTransition(index, transition, certificates).length > 0
  if (ofName.length === 0 && !transitions.some(isWatched)) return []
  const matcher = new ChangeMatcher(index, state.name, ofName, certificates, formerText)
  for (const transition of transitions) matcher.add(transition)
  return matcher.finish()
}

/** What a list changes that adds a name. */
const ONLY_NEW = { transitions: [{ type: 'new', at: null }], certificates: [] } satisfies Partial<FactChanges>

/** The events of a certificate that a log published. */
export function watchEventsOfLogged(index: WatchIndex, certificate: Certificate, loggedAt: Instant): WatchEvent[] {
  if (!index.has('certificate')) return []
  const watches = new Set(watchesOfCertificate(index, certificate).filter((watch) => admits(watch, 'certificate')))
  const differences = watches.size === 0 ? [] : [loggedDifference(certificate, loggedAt)]
  return [...watches]
    .sort((a, b) => a.id - b.id)
    .map(({ account, id }) => ({ account, watch: id, name: null, observed_at: loggedAt, differences }))
}

function admits({ types }: Watch, type: DifferenceType): boolean {
  return types === null || types.includes(type)
}

/** Collects the differences of one name by observation and watch. */
class ChangeMatcher {
  readonly #index: WatchIndex
  readonly #name: DomainName
  readonly #certificates: readonly Certificate[]
  /** The words of the start page; null if it has no text. */
  #text: TermVector | null
  /** The watches of the name itself, which match all of its differences. */
  readonly #ofName: readonly Watch[]
  readonly #events: WatchEvent[] = []
  /** The differences of the observation at `#at` by watch. */
  #matched = new Map<Watch, Difference[]>()
  #at: Instant | null = null

  constructor(
    index: WatchIndex,
    name: DomainName,
    ofName: readonly Watch[],
    certificates: readonly Certificate[],
    formerText: TermVector | null,
  ) {
    this.#index = index
    this.#name = name
    this.#certificates = certificates
    this.#text = formerText
    this.#ofName = ofName
  }

  /** Transitions of one observation follow each other. */
  add(transition: Transition): void {
    if (transition.at !== this.#at) this.#endObservation()
    this.#at = transition.at
    if (transition.type === 'text') {
      this.#addText(transition)
      return
    }
    const ofSubjects = watchesOfTransition(this.#index, transition, this.#certificates)
    if (this.#ofName.length > 0 || ofSubjects.length > 0) this.#addDifferences(transition, ofSubjects)
  }

  /** `ofSubjects`: the watches of what changed, of which those of a redirect do not match the rest of a verdict. */
  #addDifferences(transition: Transition, ofSubjects: readonly Watch[]): void {
    for (const difference of differencesOf(transition, this.#certificates)) {
      const watches = difference.type === 'website' ? this.#ofName : new Set([...this.#ofName, ...ofSubjects])
      for (const watch of watches) this.#match(watch, difference)
    }
  }

  finish(): WatchEvent[] {
    this.#endObservation()
    return this.#events
  }

  #match(watch: Watch, difference: Difference): void {
    if (!admits(watch, difference.type)) return
    const matched = this.#matched.get(watch)
    if (matched === undefined) this.#matched.set(watch, [difference])
    else matched.push(difference)
  }

  #endObservation(): void {
    if (this.#matched.size === 0) return
    const byWatch = [...this.#matched].sort(([a], [b]) => a.id - b.id)
    for (const [{ account, id }, differences] of byWatch)
      this.#events.push({ account, watch: id, name: this.#name, observed_at: this.#at, differences })
    this.#matched = new Map()
  }

  #addText(transition: Transition & { type: 'text' }): void {
    const watches = this.#index.ofText(this.#name)
    if (watches.length === 0) return
    const former = this.#text
    this.#text = transition.after === null ? null : termVectorOf(transition.after.counts)
    if (former === null || former.size === 0) return
    const percent = this.#text === null ? 100 : percentOfDifferentWords(former, this.#text)
    for (const watch of watches) if (percent >= watch.threshold!) this.#match(watch, { type: 'text', percent })
  }
}

/**
 * Returns the percentage of words that only one of both texts has, of all words of both, rounded down: 0 for the same
 * words in any order, 100 for texts without a common word. It is 100 minus the weighted Jaccard index.
 */
function percentOfDifferentWords(a: TermVector, b: TermVector): number {
  let [common, all] = [0, 0]
  for (let [i, j] = [0, 0]; i < a.size || j < b.size; ) {
    const [termA, termB] = [i < a.size ? a.terms[i]! : Infinity, j < b.size ? b.terms[j]! : Infinity]
    const [countA, countB] = [termA <= termB ? a.counts[i++]! : 0, termB <= termA ? b.counts[j++]! : 0]
    common += Math.min(countA, countB)
    all += Math.max(countA, countB)
  }
  return all === 0 ? 0 : Math.floor((100 * (all - common)) / all)
}
