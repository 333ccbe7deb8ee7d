/** The lookalikes of a brand: where the index is asked for them, and what makes a name one. */

import type { NameParts } from '../search/name-query.ts'
import { type DomainName, registrableDomainOrNull } from '../values/domain-name.ts'
import type { Brand } from './brand.ts'
import { editDistance } from './distance.ts'
import {
  ANY,
  combinedWith,
  editsOf,
  furtherEditsOf,
  type LabelCandidate,
  lookalikeTextsOf,
  mergedWith,
} from './edits.ts'
import { appearancesOf, asciiOf, beginningOfLabelsLike, isAscii, labelsOfOneScript, shapeOf, unicodeOf } from './idn.ts'
import {
  CONTAINS,
  type LabelReason,
  labelScore,
  nameScore,
  type PlaceReason,
  type Reason,
  sortedReasons,
} from './reasons.ts'

export type Lookalike = { name: DomainName; reasons: Reason[]; score: number }

/** Labels with fewer characters have many others at the distance 2. */
const MIN_HALVED_CHARACTERS = 9
const MAX_LABEL_LENGTH = 63

export class BrandLookalikes {
  readonly brand: Brand
  /** The parts of names that keep one half of the label; null for a short one. */
  readonly halves: NameParts | null
  /** The reasons of each candidate, by what it looks like. One with a dot has two labels. */
  readonly #reasons = new Map<string, LabelReason[]>()
  /** The candidates in which characters outside ASCII stand for others. */
  readonly #withAny = new Set<string>()
  readonly #shape: string
  readonly #half: { first: string; last: string } | null
  #found: { starts: Set<string>; labels: Set<string> } | null = null

  constructor(brand: Brand) {
    this.brand = brand
    const { text } = brand
    this.#shape = shapeOf(text)
    const { length } = [...text]
    const middle = Math.ceil(length / 2)
    this.#half =
      length < MIN_HALVED_CHARACTERS
        ? null
        : { first: [...text].slice(0, middle).join(''), last: [...text].slice(-middle).join('') }
    this.halves = this.#half && { starts: [this.#half.first], insides: [`${this.#half.last}.`] }
    for (const [label, reason] of candidatesOf(brand)) {
      if (label.includes(ANY)) this.#withAny.add(label)
      else if (label !== text && label !== '') this.#add(label, reason)
    }
  }

  /** The parts of names that are candidates. */
  get parts(): NameParts {
    return { starts: [...this.#wanted.starts], insides: [] }
  }

  /** The text of names that only contain the label. */
  get contained(): string {
    const { text, label } = this.brand
    return isAscii(text) ? text : label
  }

  /** Why a name is taken for the brand; null if it is not, or belongs to the brand. */
  judge(name: DomainName): Lookalike | null {
    const { brand } = this
    if (name === brand.domain || name.endsWith(`.${brand.domain}`)) return null
    const found = this.#judgeDotted(name) ?? this.#judgeLabel(name)
    if (found !== null) return found
    return name.includes(this.contained) ? { name, reasons: ['contains'], score: CONTAINS.weight } : null
  }

  /**
   * What the names begin with whose first labels look like a candidate, and the A-labels among them, of which some are
   * beginnings.
   */
  get #wanted(): { starts: Set<string>; labels: Set<string> } {
    if (this.#found !== null) return this.#found
    const { characters, text } = this.brand
    const others = characters === text ? [] : candidatesOf({ ...this.brand, text: characters })
    const found = { starts: new Set<string>(), labels: new Set<string>() }
    for (const label of this.#reasons.keys()) addStart(label, found)
    for (const label of [text, characters, ...labelsOfOneScript(text), ...this.#withAny]) addStart(label, found)
    for (const [label] of others) addStart(label, found)
    this.#found = found
    return found
  }

  #add(label: string, reason: LabelReason): void {
    const reasons = this.#reasons.get(label)
    if (reasons === undefined) this.#reasons.set(label, [reason])
    else if (!reasons.includes(reason)) reasons.push(reason)
  }

  /** A name whose first two labels are the label of the brand with a dot in it. */
  #judgeDotted(name: DomainName): Lookalike | null {
    const end = name.indexOf('.', name.indexOf('.') + 1)
    const reasons = end < 0 ? undefined : this.#reasons.get(name.slice(0, end))
    const suffix = name.slice(end + 1)
    if (reasons === undefined || (suffix !== this.brand.suffix && suffix !== suffixOf(name))) return null
    return this.#lookalike(name, reasons, null, suffix === this.brand.suffix ? null : 'suffix')
  }

  /** A name by its first label. */
  #judgeLabel(name: DomainName): Lookalike | null {
    const { brand } = this
    const dot = name.indexOf('.')
    const label = name.slice(0, dot)
    if (label.startsWith('xn--') && !this.#isAskedFor(label)) return null
    for (const { text, differs } of appearancesOf(unicodeOf(label))) {
      const isOwn = differs === null ? text === brand.text : shapeOf(text) === this.#shape
      const reasons = isOwn ? [] : (this.#reasons.get(text) ?? (label === text ? this.#reasonsOfHalf(text) : null))
      if (reasons === null) continue
      const rest = name.slice(dot + 1)
      const place = rest === brand.suffix ? null : rest === suffixOf(name) ? 'suffix' : 'subdomain'
      const ownDiffers = label === brand.label ? null : (differs ?? (isOwn ? 'diacritic' : null))
      return this.#lookalike(name, reasons, ownDiffers, place)
    }
    return null
  }

  #isAskedFor(label: string): boolean {
    const { labels } = this.#wanted
    return labels.has(label) || labels.has(label.slice(0, label.lastIndexOf('-') + 1))
  }

  #reasonsOfHalf(text: string): LabelReason[] | null {
    if (this.#half === null || !(text.startsWith(this.#half.first) || text.endsWith(this.#half.last))) return null
    return editDistance(text, this.brand.text, 2) === 2 ? ['distance_2'] : null
  }

  /** `differs`: how the characters differ from those that they look like. */
  #lookalike(
    name: DomainName,
    found: readonly LabelReason[],
    differs: LabelReason | null,
    place: PlaceReason | null,
  ): Lookalike {
    const telling = found.filter((reason) => reason !== 'insertion' && reason !== 'replacement')
    const reasons = telling.length > 0 ? telling : found
    const all = differs === null ? reasons : [...reasons, differs]
    const decisive = reasons.length === 0 ? all : reasons
    const { length } = [...this.brand.text]
    const label = all.length === 0 ? null : labelScore(decisive, length, differs !== null && reasons.length > 0)
    return {
      name,
      reasons: sortedReasons<Reason>(place === null ? all : [...all, place]),
      score: nameScore(label, place),
    }
  }
}

/** What candidates are made from. */
type BrandTexts = Pick<Brand, 'text' | 'suffix' | 'subdomain'>

function* candidatesOf(brand: BrandTexts): Generator<LabelCandidate> {
  yield* editsOf(brand.text)
  yield* furtherCandidatesOf(brand)
}

/** The candidates that are not all at the edit distance 1 from the label. */
export function* furtherCandidatesOf({ text, suffix, subdomain }: BrandTexts): Generator<LabelCandidate> {
  yield* furtherEditsOf(text)
  yield* lookalikeTextsOf(text)
  yield* combinedWith(text)
  yield* mergedWith(text, suffix, subdomain)
}

function addStart(label: string, { starts, labels }: { starts: Set<string>; labels: Set<string> }): void {
  const isBeginning = label.includes(ANY)
  const start = isBeginning ? beginningOfLabelsLike(label) : asciiOf(label)
  if (start === null || isTooLong(start)) return
  if (start.startsWith('xn--')) labels.add(start)
  starts.add(isBeginning ? start : `${start}.`)
}

/** Whether a label is longer than one may be. */
function isTooLong(labels: string): boolean {
  return labels.length > MAX_LABEL_LENGTH && labels.split('.').some((label) => label.length > MAX_LABEL_LENGTH)
}

/** The public suffix of a name; the name itself if it is one. */
function suffixOf(name: DomainName): string {
  const domain = registrableDomainOrNull(name)
  return domain === null ? name : domain.slice(domain.indexOf('.') + 1)
}
