/** The lookalikes of a brand: where the index is asked for them, and what makes a name one. */

import { type DomainName, registrableDomainOrNull } from '../values/domain-name.ts'
import type { Brand } from './brand.ts'
import { editDistance } from './distance.ts'
import { ANY, type Candidate, combinedWith, editsOf, lookalikeTextsOf, mergedWith } from './edits.ts'
import { appearanceOf, asciiOf, beginningOfLabelsLike, labelsOfOneScript, shapeOf, unicodeOf } from './idn.ts'
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

/** Parts of names: those that begin with one of `starts`, and those that have one of `insides` after their start. */
export type NameParts = { starts: string[]; insides: string[] }

/** Labels with fewer characters have many others at the distance 2. */
const MIN_HALVED_CHARACTERS = 9
const MAX_LABEL_LENGTH = 63

export class BrandLookalikes {
  readonly brand: Brand
  /** The parts of names that are candidates. */
  readonly parts: NameParts
  /** The parts of names that keep one half of the label; null for a short one. */
  readonly halves: NameParts | null
  /** The reasons of each candidate, by what it looks like. One with a dot has two labels. */
  readonly #reasons = new Map<string, LabelReason[]>()
  readonly #shape: string
  readonly #half: { first: string; last: string } | null

  constructor(brand: Brand) {
    this.brand = brand
    const { characters, text } = brand
    this.#shape = shapeOf(text)
    const { length } = [...text]
    const middle = Math.ceil(length / 2)
    this.#half =
      length < MIN_HALVED_CHARACTERS
        ? null
        : { first: [...text].slice(0, middle).join(''), last: [...text].slice(-middle).join('') }
    this.halves = this.#half && { starts: [this.#half.first], insides: [`${this.#half.last}.`] }
    const starts = new Set<string>([text, characters])
    for (const [label, reason] of candidatesOf(brand)) {
      if (label === text || label === '' || label.startsWith('.') || label.endsWith('.')) continue
      if (!label.includes(ANY)) this.#add(label, reason)
      starts.add(label)
    }
    for (const label of labelsOfOneScript(text)) starts.add(label)
    if (characters !== text) for (const [label] of candidatesOf({ ...brand, text: characters })) starts.add(label)
    this.parts = { starts: [...new Set([...starts].flatMap(indexedPart))], insides: [] }
  }

  /** Why a name is taken for the brand; null if it is not, or belongs to the brand. */
  judge(name: DomainName): Lookalike | null {
    const { brand } = this
    if (name === brand.domain || name.endsWith(`.${brand.domain}`)) return null
    const found = this.#judgeDotted(name) ?? this.#judgeLabel(name)
    if (found !== null) return found
    return name.includes(brand.label) || name.includes(brand.text)
      ? { name, reasons: ['contains'], score: CONTAINS.weight }
      : null
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
    const { text, differs } = appearanceOf(unicodeOf(label))
    const isOwn = differs === null ? text === brand.text : shapeOf(text) === this.#shape
    const reasons = isOwn ? [] : (this.#reasons.get(text) ?? this.#reasonsOfHalf(text))
    if (reasons === null) return null
    const rest = name.slice(dot + 1)
    const place = rest === brand.suffix ? null : rest === suffixOf(name) ? 'suffix' : 'subdomain'
    return this.#lookalike(name, reasons, label === brand.label ? null : (differs ?? (isOwn ? 'diacritic' : null)), place)
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

function* candidatesOf({ text, suffix, subdomain }: Pick<Brand, 'text' | 'suffix' | 'subdomain'>): Generator<Candidate> {
  yield* editsOf(text)
  yield* lookalikeTextsOf(text)
  yield* combinedWith(text)
  yield* mergedWith(text, suffix, subdomain)
}

/** What the names begin with whose first labels look like a candidate; none if no name can have the label. */
function indexedPart(label: string): string[] {
  if (label.includes(ANY)) {
    const beginning = beginningOfLabelsLike(label)
    return beginning === null || beginning.length > MAX_LABEL_LENGTH ? [] : [beginning]
  }
  const ascii = asciiOf(label)
  return ascii === null || ascii.split('.').some((each) => each.length > MAX_LABEL_LENGTH) ? [] : [`${ascii}.`]
}

/** The public suffix of a name; the name itself if it is one. */
function suffixOf(name: DomainName): string {
  const domain = registrableDomainOrNull(name)
  return domain === null ? name : domain.slice(domain.indexOf('.') + 1)
}
