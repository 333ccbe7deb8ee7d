/** Free disk space: writers pause while there is too little, report it, and resume on their own. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from './port/store.ts'
import { type FreeSpace, isDiskFull, shortageAt } from './shared/disk.ts'

/** `notify` receives the reason when writing pauses, and null when it resumes. */
export type DiskSpaceOptions = {
  /** Paths on the disks that the process writes to. */
  paths: readonly string[]
  /** Null: no space is reserved, and a full disk is an error. */
  minFree: FreeSpace | null
  notify(reason: string | null): void
}

/** Milliseconds between two checks of a disk. */
const DISK_CHECK_MS = 1_000

export class DiskSpaceMonitor {
  readonly #options: DiskSpaceOptions
  /** Why writing pauses; null while it does not. */
  #shortageReason: string | null = null

  constructor(options: DiskSpaceOptions) {
    this.#options = options
  }

  /** Describes what is missing; null if there is enough space. */
  async shortage(): Promise<string | null> {
    const { paths, minFree } = this.#options
    if (minFree === null) return null
    for (const path of paths) {
      const reason = await shortageAt(path, minFree)
      if (reason !== null) return reason
    }
    return null
  }

  /** Resolves when there is enough space. Throws AbortError if the signal is aborted first. */
  async wait(signal: AbortSignal): Promise<void> {
    for (let reason = await this.shortage(); reason !== null; reason = await this.shortage())
      await this.#pause(reason, signal)
    this.#resume()
  }

  /**
   * Writes when there is enough space, and retries if the disk is full nevertheless. `write` must write all or nothing.
   */
  async write<Result>(write: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    for (;;) {
      await this.wait(signal)
      try {
        return await write()
      } catch (error) {
        if (this.#options.minFree === null || !isDiskFull(error)) throw error
        await this.#pause((error as Error).message, signal)
      }
    }
  }

  async #pause(reason: string, signal: AbortSignal): Promise<void> {
    if (this.#shortageReason === null) this.#options.notify(reason)
    this.#shortageReason = reason
    await sleep(DISK_CHECK_MS, undefined, { signal })
  }

  #resume(): void {
    if (this.#shortageReason !== null) this.#options.notify(null)
    this.#shortageReason = null
  }
}

/** The store, with saves that wait for free disk space. */
export function storeWaitingForSpace(store: Store, diskSpace: DiskSpaceMonitor, signal: AbortSignal): Store {
  const { observations } = store
  return {
    ...store,
    observations: {
      ...observations,
      save: (changes, leases) => diskSpace.write(() => observations.save(changes, leases), signal),
    },
  }
}
