/** The open elements of a page (HTML, chapter 13.2.4.2), and what each says of the text inside. */

import { isIntegrationPoint, type Space } from './page-foreign.ts'
import { FOSTERING, IMPLIED_END, SCOPE, SPECIAL } from './page-names.ts'
import type { TextFlow } from './page-text.ts'
import type { Attributes } from './page-tokens.ts'

/** The state of the text at one place. `inert`: not part of the page, so that its links count as little as its text. */
export type Shown = 'seen' | 'hidden' | 'inert'

/** The insertion mode that an element gives to what stands in it (chapter 13.2.4.1). */
export type Mode = 'body' | 'table' | 'caption' | 'colgroup' | 'section' | 'row' | 'cell' | 'select'

const MODES = new Map<string, Mode>([
  ['table', 'table'],
  ['caption', 'caption'],
  ['colgroup', 'colgroup'],
  ['tbody', 'section'],
  ['thead', 'section'],
  ['tfoot', 'section'],
  ['tr', 'row'],
  ['td', 'cell'],
  ['th', 'cell'],
  ['select', 'select'],
  ['template', 'body'],
])

/** `own` is what the element says itself, `shown` what follows with all around it; `flow` takes its text. */
export type Element = {
  name: string
  space: Space
  attributes: Attributes
  own: Shown
  shown: Shown
  mode: Mode
  flow: TextFlow
  /** The place of a table in the flow around it, where text in front of it is inserted. */
  place: number
  isOpen: boolean
}

/** Where the next element or text is inserted. */
export type Spot = { shown: Shown; flow: TextFlow }

/** Deeper elements are counted only, as browsers bound the depth. */
const MOST_OPEN = 512

/** Steps along the open elements that one page may cost, some fifty times what long pages take: then searches find nothing. */
const MOST_STEPS = 5_000_000

const STEPS = { seen: 0, hidden: 1, inert: 2 }

export class OpenElements {
  readonly #open: Element[] = []
  /** How many of each name are open, so that a search for one that is not costs nothing. */
  readonly #count = new Map<string, { open: number }>()
  readonly #popped: (element: Element) => void
  #deeper = 0
  #stepsLeft = MOST_STEPS

  constructor(popped: (element: Element) => void) {
    this.#popped = popped
  }

  get current(): Element {
    return this.#open[this.#open.length - 1]!
  }

  get depth(): number {
    return this.#open.length
  }

  get isFull(): boolean {
    return this.#open.length >= MOST_OPEN
  }

  /** Counts an element that is too deep. */
  deepen(): void {
    this.#deeper++
  }

  /** Whether an end tag is that of an element that is too deep. */
  isOfDeeper(): boolean {
    if (this.#deeper > 0) this.#deeper--
    else return false
    return true
  }

  at(index: number): Element | undefined {
    return this.#open[index]
  }

  /** Takes steps from what a page may cost; false if there are none left. */
  spend(steps: number): boolean {
    this.#stepsLeft -= steps
    return this.#stepsLeft > 0
  }

  indexOf(element: Element): number {
    return this.#open.lastIndexOf(element)
  }

  has(name: string): boolean {
    const count = this.#count.get(name)
    return count !== undefined && count.open > 0
  }

  push(element: Element): void {
    element.isOpen = true
    element.mode = (element.space === 'html' ? MODES.get(element.name) : undefined) ?? this.#open.at(-1)?.mode ?? 'body'
    this.#open.push(element)
    this.#add(element.name, 1)
  }

  pop(): Element {
    const element = this.#open.pop()!
    element.isOpen = false
    this.#add(element.name, -1)
    this.#popped(element)
    return element
  }

  remove(element: Element): void {
    if (element === this.current) this.pop()
    else this.#splice(this.indexOf(element), 1)
  }

  /** Puts an element into the place of another one. */
  replace(old: Element, element: Element): void {
    element.mode = old.mode
    this.#splice(this.indexOf(old), 1, element)
  }

  insertAbove(below: Element, element: Element): void {
    element.mode = below.mode
    this.#splice(this.indexOf(below) + 1, 0, element)
  }

  #splice(index: number, removed: number, ...added: Element[]): void {
    for (const element of this.#open.splice(index, removed, ...added)) {
      element.isOpen = false
      this.#add(element.name, -1)
    }
    for (const element of added) {
      element.isOpen = true
      this.#add(element.name, 1)
    }
  }

  /** Pops elements up to one of a name, and that as well. */
  popUntil(name: string): void {
    for (;;) {
      const { current } = this
      if (this.#open.length <= 1) return
      this.pop()
      if (current.name === name && current.space === 'html') return
    }
  }

  popUntilOne(names: readonly string[]): void {
    for (;;) {
      const { name, space } = this.current
      if (this.#open.length <= 1) return
      this.pop()
      if (space === 'html' && names.includes(name)) return
    }
  }

  /** Pops elements until one of the names, or `html` or `template`, is the current one. */
  clearTo(names: ReadonlySet<string>): void {
    while (!names.has(this.current.name) && !SCOPE.table.has(this.current.name)) this.pop()
  }

  generateImpliedEnds(except = '', names: ReadonlySet<string> = IMPLIED_END): void {
    while (this.current.space === 'html' && names.has(this.current.name) && this.current.name !== except) this.pop()
  }

  /** Whether an element of that name is in a scope. */
  isInScope(scope: keyof typeof SCOPE, name: string): boolean {
    if (!this.has(name)) return false
    for (let index = this.#open.length - 1; index >= 0 && this.spend(1); index--) {
      const element = this.#open[index]!
      if (element.name === name && element.space === 'html') return true
      if (ends(element, scope)) return false
    }
    return false
  }

  isOneInScope(scope: keyof typeof SCOPE, names: readonly string[]): boolean {
    return names.some((name) => this.isInScope(scope, name))
  }

  isElementInScope(target: Element): boolean {
    for (let index = this.#open.length - 1; index >= 0 && this.spend(1); index--) {
      const element = this.#open[index]!
      if (element === target) return true
      if (ends(element, 'usual')) return false
    }
    return false
  }

  /** Where something is inserted; with `foster` in front of the table if the current element is part of one. */
  spot(foster: boolean, from: Element = this.current): Spot {
    if (!foster || from.space !== 'html' || !FOSTERING.has(from.name)) return from
    for (let index = this.indexOf(from); index > 0 && this.spend(1); index--) {
      const element = this.#open[index]!
      if (element.name === 'template') return element
      if (element.name !== 'table') continue
      const around = this.#open[index - 1]!
      return { shown: around.shown, flow: element.flow.insertedAt(element.place) }
    }
    return from
  }

  #add(name: string, by: number): void {
    const count = this.#count.get(name)
    if (count === undefined) this.#count.set(name, { open: by })
    else count.open += by
  }
}

/** What follows for text inside an element that says `own`, where around it stands `around`. */
export function within(around: Shown, own: Shown): Shown {
  return STEPS[own] > STEPS[around] ? own : around
}

export function isSpecial({ name, space }: Element): boolean {
  return space === 'html' ? SPECIAL.has(name) : isIntegrationPoint({ name, space })
}

function ends(element: Element, scope: keyof typeof SCOPE): boolean {
  if (element.space === 'html') return SCOPE[scope].has(element.name)
  return scope !== 'table' && isIntegrationPoint(element)
}
