/** A temporary file without a name: only its owner can read it, and it disappears with this process. */

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { errorCause, StorageError } from './input-error.ts'

export class UnnamedFile {
  readonly #file: number
  readonly #message: (cause: string) => string
  /** The size of the file. */
  bytes = 0

  /**
   * Creates a file at `path`, where none may be, and removes its name. `message`: the message of the StorageError that
   * each method throws if the file cannot be used.
   */
  constructor(path: string, message: (cause: string) => string) {
    this.#message = message
    this.#file = this.#withStorageErrors(() => openSync(path, 'wx+', 0o600))
    this.#withStorageErrors(() => rmSync(path))
  }

  /** Returns the position at which it wrote the bytes. */
  append(bytes: Uint8Array): number {
    const at = this.bytes
    for (let done = 0; done < bytes.length; )
      done += this.#withStorageErrors(() => writeSync(this.#file, bytes, done, bytes.length - done, at + done))
    this.bytes += bytes.length
    return at
  }

  /** Fills `target` with the bytes at a position. */
  read(target: Uint8Array, at: number): void {
    for (let done = 0; done < target.length; ) {
      const count = this.#withStorageErrors(() => readSync(this.#file, target, done, target.length - done, at + done))
      if (count === 0) throw new StorageError(this.#message('a temporary file was cut off'))
      done += count
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  #withStorageErrors<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      throw new StorageError(this.#message(errorCause(error)))
    }
  }
}
