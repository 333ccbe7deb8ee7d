/** Heartbeats: every child process sends one each second, and its parent detects if its event loop is blocked. */

/** Milliseconds between two heartbeats, and between two checks for missing ones. */
export const HEARTBEAT_MS = 1_000
/** If more milliseconds pass between two checks, the parent itself was blocked, and the check does not count. */
const LATE_CHECK_MS = 3_000

/** The message of a child to its parent. `isReady`: whether the child can do its work. */
export type Heartbeat = { to: 'primary'; is: 'heartbeat'; isReady: boolean }

export function isHeartbeat(message: unknown): message is Heartbeat {
  const { to, is } = (message ?? {}) as Partial<Heartbeat>
  return to === 'primary' && is === 'heartbeat'
}

/** Starts to send heartbeats to the parent of this process. */
export function sendHeartbeats(isReady: () => boolean = () => true): void {
  const send = (): void => {
    const beat: Heartbeat = { to: 'primary', is: 'heartbeat', isReady: isReady() }
    if (process.connected) process.send?.(beat, undefined, undefined, () => {})
  }
  setInterval(send, HEARTBEAT_MS).unref()
}

/**
 * Measures the time since the last heartbeat of each child. It does not count time in which this process itself did not
 * run, for example because the machine was suspended or overloaded.
 */
export class HeartbeatMonitor<Child> {
  readonly #timeout: number
  readonly #monotonicMs: () => number
  readonly #sinceHeartbeat = new Map<Child, number>()
  #checkedAt: number

  /** `timeout`: milliseconds without a heartbeat after which check() reports a child. */
  constructor(timeout: number, monotonicMs: () => number = () => performance.now()) {
    this.#timeout = timeout
    this.#monotonicMs = monotonicMs
    this.#checkedAt = monotonicMs()
  }

  /** Records a heartbeat. The first one starts the monitoring of the child. */
  heartbeat(child: Child): void {
    this.#sinceHeartbeat.set(child, 0)
  }

  /** Ends the monitoring of a child. */
  forget(child: Child): void {
    this.#sinceHeartbeat.delete(child)
  }

  /** Milliseconds from the last heartbeat to the last check. */
  millisecondsSince(child: Child): number {
    return this.#sinceHeartbeat.get(child) ?? 0
  }

  /** Returns the children whose timeout has passed, each of them once. Call it every HEARTBEAT_MS. */
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
