/** Heartbeats: a process says every second that its event loop turns, and its parent notices when it no longer does. */

/** Milliseconds between two heartbeats, and between two looks at who was silent. */
export const BEAT = 1_000
/** A look that comes so many milliseconds after the one before says that the parent itself did not run: nobody is judged then. */
const LATE = 3_000

/** From a child to its parent. `isReady`: whether it could do its work, as far as that hangs on itself. */
export type Heartbeat = { to: 'primary'; is: 'alive'; isReady: boolean }

export function isHeartbeat(message: unknown): message is Heartbeat {
  const { to, is } = (message ?? {}) as Partial<Heartbeat>
  return to === 'primary' && is === 'alive'
}

/** Begins to send heartbeats to the parent of this process. */
export function sendHeartbeats(isReady: () => boolean = () => true): void {
  const send = (): void => {
    const beat: Heartbeat = { to: 'primary', is: 'alive', isReady: isReady() }
    if (process.connected) process.send?.(beat, undefined, undefined, () => {})
  }
  setInterval(send, BEAT).unref()
}

/**
 * How long each child was silent, counted only while this process ran itself: a machine that was suspended, or so busy that
 * even this process was late, accuses nobody.
 */
export class Silences<Child> {
  readonly #most: number
  readonly #ticks: () => number
  readonly #silences = new Map<Child, number>()
  #looked: number

  /** `most`: milliseconds of silence that a child may have. `ticks`: milliseconds of a clock that is never set. */
  constructor(most: number, ticks: () => number = () => performance.now()) {
    this.#most = most
    this.#ticks = ticks
    this.#looked = ticks()
  }

  /** A heartbeat came; the first one begins the watch. */
  hear(child: Child): void {
    this.#silences.set(child, 0)
  }

  /** The child has ended, or is to be left alone. */
  forget(child: Child): void {
    this.#silences.delete(child)
  }

  /** Milliseconds since the last heartbeat, as of the last look. */
  of(child: Child): number {
    return this.#silences.get(child) ?? 0
  }

  /** To be called every BEAT: the children that were silent for too long, each of them told of once. */
  look(): Child[] {
    const now = this.#ticks()
    const passed = now - this.#looked
    this.#looked = now
    const silent: Child[] = []
    for (const [child, silence] of this.#silences) {
      const longer = passed > LATE ? 0 : silence + passed
      this.#silences.set(child, longer)
      if (longer >= this.#most) silent.push(child)
    }
    for (const child of silent) this.#silences.delete(child)
    return silent
  }
}
