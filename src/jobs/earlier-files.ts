/** Counts names that earlier files list too. Reads all files in parallel, once, in their common order. */

import type { DomainName } from '../values/domain-name.ts'
import type { FileName, FileStore } from './file-store/file-store.ts'
import { namesOfFile } from './file-store/packed-names.ts'

export class EarlierFiles {
  readonly #files: EarlierFile[]

  constructor(fileStore: Pick<FileStore, 'open'>, files: readonly FileName[]) {
    this.#files = files.map((file) => new EarlierFile(fileStore, file))
  }

  /** Returns how many of the names any of the files lists. Names must ascend within a call and from call to call. */
  async count(names: readonly DomainName[]): Promise<number> {
    const isListed = new Uint8Array(names.length)
    for (const list of this.#files) await list.markListed(names, isListed)
    return isListed.reduce((sum, each) => sum + each, 0)
  }

  async close(): Promise<void> {
    for (const list of this.#files) await list.close()
  }
}

/** A reader of one file, with its current position. */
class EarlierFile {
  readonly #batches: AsyncGenerator<DomainName[]>
  #names: readonly DomainName[] = []
  #position = 0
  #isEnded = false

  constructor(fileStore: Pick<FileStore, 'open'>, file: FileName) {
    this.#batches = readFileNames(fileStore, file)
  }

  async markListed(names: readonly DomainName[], isListed: Uint8Array): Promise<void> {
    for (let place = 0; place < names.length; ) {
      const [mine, theirs] = [this.#names[this.#position], names[place]!]
      if (mine === undefined) {
        if (!(await this.#readMore())) return
      } else if (mine < theirs) this.#position++
      else {
        if (mine === theirs) isListed[place] = 1
        place++
      }
    }
  }

  async close(): Promise<void> {
    await this.#batches.return(undefined)
  }

  async #readMore(): Promise<boolean> {
    if (this.#isEnded) return false
    const { value, done } = await this.#batches.next()
    this.#isEnded = done === true
    this.#names = value ?? []
    this.#position = 0
    return !this.#isEnded
  }
}

async function* readFileNames(fileStore: Pick<FileStore, 'open'>, file: FileName): AsyncGenerator<DomainName[]> {
  const opened = await fileStore.open(file)
  if (opened !== null) yield* namesOfFile(opened)
}
