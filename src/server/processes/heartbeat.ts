/** Heartbeats: a process says every second that its event loop turns, and its parent notices when it no longer does. */

/** Milliseconds between two heartbeats, and between two looks at who was silent. */
export const HEARTBEAT_MS = 1_000
/** A look that comes so many milliseconds after the one before says that the parent itself did not run: nobody is judged then. */
const LATE_CHECK_MS = 3_000

/** From a child to its parent. `isReady`: whether it could do its work, as far as that hangs on itself. */
export type Heartbeat = { to: 'primary'; is: 'heartbeat'; isReady: boolean }

export function isHeartbeat(message: unknown): message is Heartbeat {
  const { to, is } = (message ?? {}) as Partial<Heartbeat>
  return to === 'primary' && is === 'heartbeat'
}

/** Begins to send heartbeats to the parent of this process. */
export function sendHeartbeats(isReady: () => boolean = () => true): void {
  const send = (): void => {
    const beat: Heartbeat = { to: 'primary', is: 'heartbeat', isReady: isReady() }
    if (process.connected) process.send?.(beat, undefined, undefined, () => {})
  }
  setInterval(send, HEARTBEAT_MS).unref()
}

/**
 * How long each child was silent, counted only while this process ran itself: a machine that was suspended, or so busy that
 * even this process was late, accuses nobody.
 */
export class HeartbeatMonitor<Child> {
  readonly #timeout: number
  readonly #monotonicMs: () => number
  readonly #sinceHeartbeat = new Map<Child, number>()
  #checkedAt: number

  /** `most`: milliseconds of silence that a child may have. `ticks`: milliseconds of a clock that is never set. */
  constructor(timeout: number, monotonicMs: () => number = () => performance.now()) {
    this.#timeout = timeout
    this.#monotonicMs = monotonicMs
    this.#checkedAt = monotonicMs()
  }

  /** A heartbeat came; the first one begins the watch. */
  heartbeat(child: Child): void {
    this.#sinceHeartbeat.set(child, 0)
  }

  /** The child has ended, or is to be left alone. */
  forget(child: Child): void {
    this.#sinceHeartbeat.delete(child)
  }

  /** Milliseconds since the last heartbeat, as of the last look. */
  millisecondsSince(child: Child): number {
    return this.#sinceHeartbeat.get(child) ?? 0
  }

  /** To be called every BEAT: the children that were silent for too long, each of them told of once. */
  check(): Child[] {
    const now = this.#monotonicMs()
    const passed = now - this.#checkedAt
    this.#checkedAt = now
    const silent: Child[] = []
    for (const [child, silence] of this.#sinceHeartbeat) {
      const longer = passed > LATE_CHECK_MS ? 0 : silence + passed
      this.#sinceHeartbeat.set(child, longer)
      if (longer >= this.#timeout) silent.push(child)
    }
    for (const child of silent) this.#sinceHeartbeat.delete(child)
    return silent
  }
}
