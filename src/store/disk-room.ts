/** Room on disks: what writes pauses while there is too little of it, says so, and goes on by itself. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type FreeSpace, lackAt } from './disk.ts'
import { isFull } from './fault.ts'
import type { Store } from './store.ts'
import { isPostgres, type StorePlace, urlOf } from './url.ts'

/** `say` is told why writing pauses, and null when it goes on. */
export type DiskRoomOptions = {
  /** Paths on the disks that are written to. */
  paths: readonly string[]
  /** Null: nothing is kept free, and a full disk is an error. */
  free: FreeSpace | null
  say(why: string | null): void
}

/** Milliseconds until a disk is looked at again. */
const AGAIN = 1_000

export class DiskRoom {
  readonly #options: DiskRoomOptions
  /** Why writing pauses; null while it does not. */
  #why: string | null = null

  constructor(options: DiskRoomOptions) {
    this.#options = options
  }

  /** What is too little, in words; null if there is room. */
  async lack(): Promise<string | null> {
    const { paths, free } = this.#options
    if (free === null) return null
    for (const path of paths) {
      const lack = await lackAt(path, free)
      if (lack !== null) return lack
    }
    return null
  }

  /** Resolves when there is room. Throws AbortError when the signal comes before. */
  async wait(signal: AbortSignal): Promise<void> {
    for (let lack = await this.lack(); lack !== null; lack = await this.lack()) await this.#pause(lack, signal)
    this.#goOn()
  }

  /** Writes when there is room, and again where the disk was full all the same: a write is done whole or not at all. */
  async write<Result>(write: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    for (;;) {
      await this.wait(signal)
      try {
        return await write()
      } catch (error) {
        if (this.#options.free === null || !isFull(error)) throw error
        await this.#pause((error as Error).message, signal)
      }
    }
  }

  async #pause(why: string, signal: AbortSignal): Promise<void> {
    if (this.#why === null) this.#options.say(why)
    this.#why = why
    await sleep(AGAIN, undefined, { signal })
  }

  #goOn(): void {
    if (this.#why !== null) this.#options.say(null)
    this.#why = null
  }
}

/** The store with saves that wait for room. */
export function patientStore(store: Store, room: DiskRoom, signal: AbortSignal): Store {
  const { frontier } = store
  return {
    ...store,
    frontier: { ...frontier, save: (changes, leases) => room.write(() => frontier.save(changes, leases), signal) },
  }
}

/** Where a store writes; nowhere that can be seen from here on PostgreSQL. */
export function pathsOf(place: StorePlace): string[] {
  return isPostgres(place) ? [] : [urlOf(place).slice('sqlite:'.length)]
}
