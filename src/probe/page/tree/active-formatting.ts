/** The active formatting elements (HTML, section 13.2.4.3), which continue after the end tag of another element. */

import {
  type InsertionPoint,
  innerVisibility,
  isSpecialElement,
  type OpenElement,
  type OpenElements,
} from './open-elements.ts'

/** Older elements are dropped, so that no page makes every paragraph reopen thousands. */
const MAX_ACTIVE_ELEMENTS = 64
/** Section 13.2.6.4.7: the maximum of attempts for a misnested end tag, and of copied elements per attempt. */
const MAX_ADOPTION_TRIES = 8
const MAX_COPIES = 3

/** A copy costs as much as this many steps along the open elements. */
const STEPS_PER_COPY = 30

const MARKER = null

/** Creates a copy of an element at an insertion point. */
type CopyElement = (element: OpenElement, insertionPoint: InsertionPoint) => OpenElement

export class ActiveFormattingElements {
  readonly #active: (OpenElement | typeof MARKER)[] = []
  readonly #open: OpenElements
  readonly #copy: CopyElement

  constructor(open: OpenElements, copy: CopyElement) {
    this.#open = open
    this.#copy = copy
  }

  push(element: OpenElement): void {
    this.#active.push(element)
    if (this.#active.length > MAX_ACTIVE_ELEMENTS) this.#active.shift()
  }

  pushMarker(): void {
    this.#active.push(MARKER)
    if (this.#active.length > MAX_ACTIVE_ELEMENTS) this.#active.shift()
  }

  clearToMarker(): void {
    while (this.#active.length > 0 && this.#active.pop() !== MARKER);
  }

  /** The last element of this name after the last marker. */
  last(name: string): OpenElement | null {
    for (let index = this.#active.length - 1; index >= 0; index--) {
      const element = this.#active[index]!
      if (element === MARKER) return null
      if (element.name === name) return element
    }
    return null
  }

  remove(element: OpenElement): void {
    const index = this.#active.indexOf(element)
    if (index >= 0) this.#active.splice(index, 1)
  }

  /** Reopens the elements that another element closed. */
  reconstruct(foster: boolean): void {
    let index = this.#active.length
    while (index > 0 && this.#active[index - 1] !== MARKER && !this.#active[index - 1]!.isOpen) index--
    for (; index < this.#active.length && !this.#open.isFull && this.#open.spendSteps(STEPS_PER_COPY); index++) {
      const copy = this.#copy(this.#active[index]!, this.#open.insertionPoint(foster))
      this.#open.push(copy)
      this.#active[index] = copy
    }
  }

  /** Handles the end tag of a formatting element. Returns false if it counts as any other end tag. */
  close(name: string): boolean {
    const { current } = this.#open
    if (current.name === name && current.namespace === 'html' && !this.#active.includes(current)) {
      this.#open.pop()
      return true
    }
    for (let tried = 0; tried < MAX_ADOPTION_TRIES && this.#open.spendSteps(STEPS_PER_COPY); tried++) {
      const formatting = this.last(name)
      if (formatting === null) return tried > 0
      if (!formatting.isOpen) this.remove(formatting)
      if (!formatting.isOpen || !this.#open.isElementInScope(formatting)) return true
      const furthest = this.#furthestBlock(formatting)
      if (furthest === null) {
        while (this.#open.pop() !== formatting);
        this.remove(formatting)
        return true
      }
      this.#adopt(formatting, furthest)
    }
    return true
  }

  #furthestBlock(formatting: OpenElement): OpenElement | null {
    for (
      let index = this.#open.indexOf(formatting) + 1;
      index < this.#open.depth && this.#open.spendSteps(1);
      index++
    ) {
      const element = this.#open.at(index)!
      if (isSpecialElement(element)) return element
    }
    return null
  }

  /**
   * The adoption agency algorithm: moves the block out of the formatting element. The block then contains copies of
   * that element and of those in between.
   */
  #adopt(formatting: OpenElement, furthest: OpenElement): void {
    const ancestor = this.#open.at(this.#open.indexOf(formatting) - 1)!
    let bookmark = this.#active.indexOf(formatting)
    const between: OpenElement[] = []
    let index = this.#open.indexOf(furthest)
    for (let counter = 1; this.#open.at(--index) !== formatting; counter++) {
      const node = this.#open.at(index)!
      if (counter > MAX_COPIES) this.remove(node)
      const place = this.#active.indexOf(node)
      if (place < 0) {
        this.#open.remove(node)
        continue
      }
      const copy = this.#copy(node, node)
      this.#active[place] = copy
      this.#open.replace(node, copy)
      if (between.length === 0) bookmark = place + 1
      between.push(copy)
    }
    this.#updateVisibility([furthest, ...between].reverse(), this.#open.insertionPoint(true, ancestor))
    const copy = this.#copy(formatting, furthest)
    this.#active.splice(bookmark, 0, copy)
    this.remove(formatting)
    this.#open.remove(formatting)
    this.#open.insertAbove(furthest, copy)
  }

  /** Updates the visibility of a chain of nested elements that moved to an insertion point. */
  #updateVisibility(chain: readonly OpenElement[], insertionPoint: InsertionPoint): void {
    let { visibility } = insertionPoint
    for (const element of chain) {
      visibility = innerVisibility(visibility, element.ownVisibility)
      element.visibility = visibility
      element.textFlow = insertionPoint.textFlow
    }
  }
}
