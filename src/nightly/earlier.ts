/** Which names were listed on earlier days too: their files are read beside, all of them once, in the order that all have. */

import type { Name } from '../words/name.ts'
import { namesOf } from './names.ts'
import type { FileName, Shelf } from './shelf.ts'

export class Earlier {
  readonly #lists: List[]

  constructor(shelf: Pick<Shelf, 'open'>, files: readonly FileName[]) {
    this.#lists = files.map((file) => new List(shelf, file))
  }

  /** How many of the names any of the files lists. Names rise, within a call and from call to call. */
  async count(names: readonly Name[]): Promise<number> {
    const isListed = new Uint8Array(names.length)
    for (const list of this.#lists) await list.mark(names, isListed)
    return isListed.reduce((sum, each) => sum + each, 0)
  }

  async close(): Promise<void> {
    for (const list of this.#lists) await list.close()
  }
}

/** One file, at the place that was reached. */
class List {
  readonly #batches: AsyncGenerator<Name[]>
  #names: readonly Name[] = []
  #at = 0
  #isEnded = false

  constructor(shelf: Pick<Shelf, 'open'>, file: FileName) {
    this.#batches = read(shelf, file)
  }

  async mark(names: readonly Name[], isListed: Uint8Array): Promise<void> {
    for (let place = 0; place < names.length; ) {
      const [mine, theirs] = [this.#names[this.#at], names[place]!]
      if (mine === undefined) {
        if (!(await this.#more())) return
      } else if (mine < theirs) this.#at++
      else {
        if (mine === theirs) isListed[place] = 1
        place++
      }
    }
  }

  async close(): Promise<void> {
    await this.#batches.return(undefined)
  }

  async #more(): Promise<boolean> {
    if (this.#isEnded) return false
    const { value, done } = await this.#batches.next()
    this.#isEnded = done === true
    this.#names = value ?? []
    this.#at = 0
    return !this.#isEnded
  }
}

async function* read(shelf: Pick<Shelf, 'open'>, file: FileName): AsyncGenerator<Name[]> {
  const opened = await shelf.open(file)
  if (opened !== null) yield* namesOf(opened)
}
