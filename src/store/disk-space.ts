/** Room on disks: what writes pauses while there is too little of it, says so, and goes on by itself. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isDiskFull } from './port/fault.ts'
import type { Store } from './port/store.ts'
import { isPostgres, type StoreLocation, storeUrlOf } from './port/url.ts'
import { type FreeSpace, shortageAt } from './shared/disk.ts'

/** `say` is told why writing pauses, and null when it goes on. */
export type DiskSpaceOptions = {
  /** Paths on the disks that are written to. */
  paths: readonly string[]
  /** Null: nothing is kept free, and a full disk is an error. */
  minFree: FreeSpace | null
  notify(why: string | null): void
}

/** Milliseconds until a disk is looked at again. */
const DISK_CHECK_MS = 1_000

export class DiskSpaceMonitor {
  readonly #options: DiskSpaceOptions
  /** Why writing pauses; null while it does not. */
  #shortageReason: string | null = null

  constructor(options: DiskSpaceOptions) {
    this.#options = options
  }

  /** What is too little, in words; null if there is room. */
  async shortage(): Promise<string | null> {
    const { paths, minFree: free } = this.#options
    if (free === null) return null
    for (const path of paths) {
      const lack = await shortageAt(path, free)
      if (lack !== null) return lack
    }
    return null
  }

  /** Resolves when there is room. Throws AbortError when the signal comes before. */
  async wait(signal: AbortSignal): Promise<void> {
    for (let lack = await this.shortage(); lack !== null; lack = await this.shortage()) await this.#pause(lack, signal)
    this.#resume()
  }

  /** Writes when there is room, and again where the disk was full all the same: a write is done whole or not at all. */
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

  async #pause(why: string, signal: AbortSignal): Promise<void> {
    if (this.#shortageReason === null) this.#options.notify(why)
    this.#shortageReason = why
    await sleep(DISK_CHECK_MS, undefined, { signal })
  }

  #resume(): void {
    if (this.#shortageReason !== null) this.#options.notify(null)
    this.#shortageReason = null
  }
}

/** The store with saves that wait for room. */
export function storeWaitingForSpace(store: Store, diskSpace: DiskSpaceMonitor, signal: AbortSignal): Store {
  const { observations: frontier } = store
  return {
    ...store,
    observations: {
      ...frontier,
      save: (changes, leases) => diskSpace.write(() => frontier.save(changes, leases), signal),
    },
  }
}

/** Where a store writes; nowhere that can be seen from here on PostgreSQL. */
export function storePaths(location: StoreLocation): string[] {
  return isPostgres(location) ? [] : [storeUrlOf(location).slice('sqlite:'.length)]
}
