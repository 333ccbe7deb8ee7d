/** The open elements of a page (HTML, section 13.2.4.2), and the visibility of the text in each. */

import { FOSTER_PARENTING_ELEMENTS, IMPLIED_END_TAGS, SCOPES, SPECIAL_ELEMENTS } from './element-names.ts'
import { isIntegrationPoint, type MarkupNamespace } from './foreign-content.ts'
import type { TextFlow } from './text-flow.ts'
import type { TagAttributes } from './tokenizer.ts'

/** The visibility of text. `inert`: not part of the page, so that links in it do not count either. */
export type Visibility = 'visible' | 'hidden' | 'inert'

/** The insertion mode that an element sets for its content (section 13.2.4.1). */
export type InsertionMode = 'body' | 'table' | 'caption' | 'colgroup' | 'section' | 'row' | 'cell' | 'select'

const INSERTION_MODES = new Map<string, InsertionMode>([
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

/** `ownVisibility`: from the element's own tag; `visibility`: with all its ancestors. `textFlow` receives its text. */
export type OpenElement = {
  name: string
  namespace: MarkupNamespace
  attributes: TagAttributes
  ownVisibility: Visibility
  visibility: Visibility
  mode: InsertionMode
  textFlow: TextFlow
  /** The place of a table in the surrounding text flow. Text in front of the table is inserted there. */
  place: number
  isOpen: boolean
}

/** Where the next element or text is inserted. */
export type InsertionPoint = { visibility: Visibility; textFlow: TextFlow }

/** Deeper elements are only counted. Browsers also limit the depth. */
const MAX_OPEN_ELEMENTS = 512

/**
 * The maximum of search steps along the open elements per page, about fifty times the need of long pages. After that,
 * searches find nothing.
 */
const MAX_SEARCH_STEPS = 5_000_000

const VISIBILITY_RANK = { visible: 0, hidden: 1, inert: 2 }

export class OpenElements {
  readonly #open: OpenElement[] = []
  /** The number of open elements by name, so that a search for a name that is not open costs nothing. */
  readonly #count = new Map<string, { open: number }>()
  readonly #onPopped: (element: OpenElement) => void
  #beyondLimit = 0
  #stepsLeft = MAX_SEARCH_STEPS

  constructor(onPopped: (element: OpenElement) => void) {
    this.#onPopped = onPopped
  }

  get current(): OpenElement {
    return this.#open[this.#open.length - 1]!
  }

  get depth(): number {
    return this.#open.length
  }

  get isFull(): boolean {
    return this.#open.length >= MAX_OPEN_ELEMENTS
  }

  /** Counts an element beyond the depth limit. */
  pushBeyondLimit(): void {
    this.#beyondLimit++
  }

  /** Whether an end tag closes an element beyond the depth limit. */
  popBeyondLimit(): boolean {
    if (this.#beyondLimit > 0) this.#beyondLimit--
    else return false
    return true
  }

  at(index: number): OpenElement | undefined {
    return this.#open[index]
  }

  /** Uses steps of the page's budget. Returns false if none are left. */
  spendSteps(steps: number): boolean {
    this.#stepsLeft -= steps
    return this.#stepsLeft > 0
  }

  indexOf(element: OpenElement): number {
    return this.#open.lastIndexOf(element)
  }

  has(name: string): boolean {
    const count = this.#count.get(name)
    return count !== undefined && count.open > 0
  }

  push(element: OpenElement): void {
    element.isOpen = true
    element.mode =
      (element.namespace === 'html' ? INSERTION_MODES.get(element.name) : undefined) ??
      this.#open.at(-1)?.mode ??
      'body'
    this.#open.push(element)
    this.#adjustCount(element.name, 1)
  }

  pop(): OpenElement {
    const element = this.#open.pop()!
    element.isOpen = false
    this.#adjustCount(element.name, -1)
    this.#onPopped(element)
    return element
  }

  remove(element: OpenElement): void {
    if (element === this.current) this.pop()
    else this.#splice(this.indexOf(element), 1)
  }

  /** Replaces an element with another. */
  replace(old: OpenElement, element: OpenElement): void {
    element.mode = old.mode
    this.#splice(this.indexOf(old), 1, element)
  }

  insertAbove(below: OpenElement, element: OpenElement): void {
    element.mode = below.mode
    this.#splice(this.indexOf(below) + 1, 0, element)
  }

  #splice(index: number, removed: number, ...added: OpenElement[]): void {
    for (const element of this.#open.splice(index, removed, ...added)) {
      element.isOpen = false
      this.#adjustCount(element.name, -1)
    }
    for (const element of added) {
      element.isOpen = true
      this.#adjustCount(element.name, 1)
    }
  }

  /** Pops elements up to and including one with this name. */
  popUntil(name: string): void {
    for (;;) {
      const { current } = this
      if (this.#open.length <= 1) return
      this.pop()
      if (current.name === name && current.namespace === 'html') return
    }
  }

  popUntilOne(names: readonly string[]): void {
    for (;;) {
      const { name, namespace } = this.current
      if (this.#open.length <= 1) return
      this.pop()
      if (namespace === 'html' && names.includes(name)) return
    }
  }

  /** Pops elements until the current one has one of these names, or is `html` or `template`. */
  clearTo(names: ReadonlySet<string>): void {
    while (!names.has(this.current.name) && !SCOPES.table.has(this.current.name)) this.pop()
  }

  generateImpliedEnds(except = '', names: ReadonlySet<string> = IMPLIED_END_TAGS): void {
    while (this.current.namespace === 'html' && names.has(this.current.name) && this.current.name !== except) this.pop()
  }

  /** Whether an element with this name is in a scope. */
  isInScope(scope: keyof typeof SCOPES, name: string): boolean {
    if (!this.has(name)) return false
    for (let index = this.#open.length - 1; index >= 0 && this.spendSteps(1); index--) {
      const element = this.#open[index]!
      if (element.name === name && element.namespace === 'html') return true
      if (endsScope(element, scope)) return false
    }
    return false
  }

  isOneInScope(scope: keyof typeof SCOPES, names: readonly string[]): boolean {
    return names.some((name) => this.isInScope(scope, name))
  }

  isElementInScope(target: OpenElement): boolean {
    for (let index = this.#open.length - 1; index >= 0 && this.spendSteps(1); index--) {
      const element = this.#open[index]!
      if (element === target) return true
      if (endsScope(element, 'usual')) return false
    }
    return false
  }

  /** The insertion point. With `foster`, it is in front of the table if the current element is part of one. */
  insertionPoint(foster: boolean, from: OpenElement = this.current): InsertionPoint {
    if (!foster || from.namespace !== 'html' || !FOSTER_PARENTING_ELEMENTS.has(from.name)) return from
    for (let index = this.indexOf(from); index > 0 && this.spendSteps(1); index--) {
      const element = this.#open[index]!
      if (element.name === 'template') return element
      if (element.name !== 'table') continue
      const parent = this.#open[index - 1]!
      return { visibility: parent.visibility, textFlow: element.textFlow.insertedAt(element.place) }
    }
    return from
  }

  #adjustCount(name: string, by: number): void {
    const count = this.#count.get(name)
    if (count === undefined) this.#count.set(name, { open: by })
    else count.open += by
  }
}

/** The visibility of the text inside an element from its own tag and its surroundings. */
export function innerVisibility(outer: Visibility, own: Visibility): Visibility {
  return VISIBILITY_RANK[own] > VISIBILITY_RANK[outer] ? own : outer
}

export function isSpecialElement({ name, namespace }: OpenElement): boolean {
  return namespace === 'html' ? SPECIAL_ELEMENTS.has(name) : isIntegrationPoint({ name, namespace })
}

function endsScope(element: OpenElement, scope: keyof typeof SCOPES): boolean {
  if (element.namespace === 'html') return SCOPES[scope].has(element.name)
  return scope !== 'table' && isIntegrationPoint(element)
}
