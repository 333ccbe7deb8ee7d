/** The active formatting elements (HTML, chapter 13.2.4.3): those that go on behind an end tag of another element. */

import { type Element, isSpecial, type OpenElements, type Spot, within } from './page-elements.ts'

/** Older ones are forgotten, so that no page makes every paragraph open thousands anew. */
const MOST_ACTIVE = 64
/** Chapter 13.2.6.4.7: so often a misnested end tag is tried, and so many elements are copied each time. */
const TRIES = 8
const COPIES = 3

/** A copy costs as much as so many steps along the open elements. */
const COPY_STEPS = 30

const MARKER = null

/** Makes an element like another at a spot. */
type Copy = (element: Element, spot: Spot) => Element

export class ActiveFormatting {
  readonly #active: (Element | typeof MARKER)[] = []
  readonly #open: OpenElements
  readonly #copy: Copy

  constructor(open: OpenElements, copy: Copy) {
    this.#open = open
    this.#copy = copy
  }

  push(element: Element): void {
    this.#active.push(element)
    if (this.#active.length > MOST_ACTIVE) this.#active.shift()
  }

  mark(): void {
    this.#active.push(MARKER)
    if (this.#active.length > MOST_ACTIVE) this.#active.shift()
  }

  clearToMarker(): void {
    while (this.#active.length > 0 && this.#active.pop() !== MARKER);
  }

  /** The last one of a name behind the last marker. */
  last(name: string): Element | null {
    for (let index = this.#active.length - 1; index >= 0; index--) {
      const element = this.#active[index]!
      if (element === MARKER) return null
      if (element.name === name) return element
    }
    return null
  }

  remove(element: Element): void {
    const index = this.#active.indexOf(element)
    if (index >= 0) this.#active.splice(index, 1)
  }

  /** Opens those anew that were closed from outside. */
  reconstruct(foster: boolean): void {
    let index = this.#active.length
    while (index > 0 && this.#active[index - 1] !== MARKER && !this.#active[index - 1]!.isOpen) index--
    for (; index < this.#active.length && !this.#open.isFull && this.#open.spend(COPY_STEPS); index++) {
      const made = this.#copy(this.#active[index]!, this.#open.spot(foster))
      this.#open.push(made)
      this.#active[index] = made
    }
  }

  /** The end tag of a formatting element; false where it is to be read as any other end tag. */
  close(name: string): boolean {
    const { current } = this.#open
    if (current.name === name && current.space === 'html' && !this.#active.includes(current)) {
      this.#open.pop()
      return true
    }
    for (let tried = 0; tried < TRIES && this.#open.spend(COPY_STEPS); tried++) {
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

  #furthestBlock(formatting: Element): Element | null {
    for (let index = this.#open.indexOf(formatting) + 1; index < this.#open.depth && this.#open.spend(1); index++) {
      const element = this.#open.at(index)!
      if (isSpecial(element)) return element
    }
    return null
  }

  /** The adoption agency: the block leaves the formatting element, and gets copies of it and of those between inside. */
  #adopt(formatting: Element, furthest: Element): void {
    const ancestor = this.#open.at(this.#open.indexOf(formatting) - 1)!
    let bookmark = this.#active.indexOf(formatting)
    const between: Element[] = []
    let index = this.#open.indexOf(furthest)
    for (let counter = 1; this.#open.at(--index) !== formatting; counter++) {
      const node = this.#open.at(index)!
      if (counter > COPIES) this.remove(node)
      const place = this.#active.indexOf(node)
      if (place < 0) {
        this.#open.remove(node)
        continue
      }
      const made = this.#copy(node, node)
      this.#active[place] = made
      this.#open.replace(node, made)
      if (between.length === 0) bookmark = place + 1
      between.push(made)
    }
    this.#settle([furthest, ...between].reverse(), this.#open.spot(true, ancestor))
    const made = this.#copy(formatting, furthest)
    this.#active.splice(bookmark, 0, made)
    this.remove(formatting)
    this.#open.remove(formatting)
    this.#open.insertAbove(furthest, made)
  }

  /** What is shown in a chain of elements, each in the one before, that was moved to a spot. */
  #settle(chain: readonly Element[], spot: Spot): void {
    let { shown } = spot
    for (const element of chain) {
      shown = within(shown, element.own)
      element.shown = shown
      element.flow = spot.flow
    }
  }
}
