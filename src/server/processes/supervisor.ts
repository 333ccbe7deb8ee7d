/** The supervisor: keeps one process in each of its slots, replaces those that die or send no heartbeat, stops all. */

import type { ChildProcess } from 'node:child_process'
import type { Logger } from 'pino'
import { HEARTBEAT_MS, HeartbeatMonitor, isHeartbeat } from './heartbeat.ts'

/** How one kind of process is started, monitored and stopped. `Child` is the type of the caller for a process. */
export type SupervisionRules<Child> = {
  fork(): Child
  processOf(child: Child): ChildProcess
  /** Resolves when a forked process does its work. Throws if it cannot. */
  begin(child: Child, slot: number): Promise<void>
  /** Sends a process the command to end. */
  sendStop(child: Child): void
  /** Called with the heartbeats of the processes that work. */
  onHeartbeat?(child: Child, isReady: boolean): void
  /** Called after each check of the heartbeats. */
  onCheck?(): void
  /** The fields that name the process of a slot in the log. */
  logFields(slot: number): object
  /** Log messages. */
  messages: { died: string; startFailed: string; heartbeatTimedOut: string }
  /** Milliseconds without a heartbeat after which a process is killed. */
  heartbeatTimeoutMs: number
  /** If a process dies within this many milliseconds, that counts as a failed start. */
  stableMs: number
  /** Milliseconds until a restart, by the number of failures in a row. */
  restartDelayMs(failures: number): number
  /** Milliseconds after which a process that does not stop is killed. */
  stopTimeoutMs: number
}

/** A slot keeps its number when its process is replaced. */
export type Slot<Child> = {
  readonly number: number
  /** The process that works; null if there is none. */
  child: Child | null
  /** When the process began to work, or died: monotonic milliseconds. */
  since: number
  /** How often in a row a process failed to start, or died soon after. */
  failures: number
}

export class Supervisor<Child extends object> {
  readonly slots: readonly Slot<Child>[]
  readonly #rules: SupervisionRules<Child>
  readonly #log: Pick<Logger, 'error'>
  readonly #monotonicMs: () => number
  /** The processes that work and those that start. */
  readonly #children = new Set<Child>()
  readonly #heartbeats: HeartbeatMonitor<Child>
  #isActive = true
  #heartbeatTimer: NodeJS.Timeout | undefined

  constructor(
    count: number,
    rules: SupervisionRules<Child>,
    log: Pick<Logger, 'error'>,
    monotonicMs: () => number = () => performance.now(),
  ) {
    this.slots = Array.from({ length: count }, (_, index) => ({
      number: index + 1,
      child: null,
      since: monotonicMs(),
      failures: 0,
    }))
    this.#rules = rules
    this.#log = log
    this.#monotonicMs = monotonicMs
    this.#heartbeats = new HeartbeatMonitor(rules.heartbeatTimeoutMs, monotonicMs)
  }

  /**
   * Starts a process for each slot. Resolves when every one works or has failed once. The supervisor logs a failure and
   * retries. With `isFirstRequired`, it starts the first process alone, and throws if that fails.
   */
  async start({ isFirstRequired }: { isFirstRequired: boolean }): Promise<void> {
    if (isFirstRequired) await this.#startChild(this.slots[0]!) // alone, so that a common failure is reported once
    this.#heartbeatTimer = setInterval(() => this.#checkHeartbeats(), HEARTBEAT_MS).unref()
    await Promise.all(this.slots.slice(Number(isFirstRequired)).map((slot) => this.#fill(slot)))
  }

  /** Milliseconds since the last heartbeat of the process of a slot, or since its death. */
  millisecondsSilent({ child, since }: Slot<Child>): number {
    return child === null ? this.#monotonicMs() - since : this.#heartbeats.millisecondsSince(child)
  }

  /** Ends the supervision: from now on it replaces no process. Returns the processes that work or start. */
  release(): Child[] {
    this.#isActive = false
    clearInterval(this.#heartbeatTimer)
    return [...this.#children]
  }

  /** Ends the supervision and all processes. Kills those that do not stop in time. */
  async stop(): Promise<void> {
    await Promise.all(this.release().map((child) => this.#stopChild(child)))
  }

  async #stopChild(child: Child): Promise<void> {
    const { processOf, sendStop, stopTimeoutMs } = this.#rules
    const closed = new Promise((resolve) => processOf(child).once('close', resolve))
    sendStop(child)
    const timer = setTimeout(() => processOf(child).kill('SIGKILL'), stopTimeoutMs)
    await closed
    clearTimeout(timer)
  }

  async #startChild(slot: Slot<Child>): Promise<void> {
    const { processOf, fork, begin, onHeartbeat } = this.#rules
    const child = fork()
    const process = processOf(child)
    this.#children.add(child)
    process.on('message', (message: unknown) => {
      if (!isHeartbeat(message) || slot.child !== child) return
      this.#heartbeats.heartbeat(child)
      onHeartbeat?.(child, message.isReady)
    })
    process.on('error', () => {}) // the system did not start it: `close` follows
    process.once('close', (code, signal) => {
      this.#children.delete(child)
      this.#heartbeats.forget(child)
      if (slot.child === child) this.#onDeath(slot, signal ?? code!)
    })
    try {
      await begin(child, slot.number)
    } catch (error) {
      process.kill('SIGKILL')
      throw error
    }
    Object.assign(slot, { child, since: this.#monotonicMs() })
    this.#heartbeats.heartbeat(child)
  }

  #onDeath(slot: Slot<Child>, reason: string | number): void {
    const { logFields, messages, stableMs } = this.#rules
    const now = this.#monotonicMs()
    slot.failures = now - slot.since < stableMs ? slot.failures + 1 : 0
    Object.assign(slot, { child: null, since: now })
    if (this.#isActive) this.#fillLater(slot, { ...logFields(slot.number), reason }, messages.died)
  }

  /** Starts a process for a slot. If that fails, retries in the background. */
  async #fill(slot: Slot<Child>): Promise<void> {
    if (!this.#isActive) return
    const { logFields, messages } = this.#rules
    try {
      await this.#startChild(slot)
    } catch (error) {
      slot.failures++
      const { message } = error as Error
      if (this.#isActive) this.#fillLater(slot, { ...logFields(slot.number), reason: message }, messages.startFailed)
    }
  }

  #fillLater(slot: Slot<Child>, fields: object, message: string): void {
    const delay = this.#rules.restartDelayMs(slot.failures)
    this.#log.error({ ...fields, seconds: delay / 1_000 }, message)
    setTimeout(() => void this.#fill(slot), delay).unref()
  }

  #checkHeartbeats(): void {
    const { processOf, logFields, messages, heartbeatTimeoutMs, onCheck } = this.#rules
    for (const child of this.#heartbeats.check()) {
      const slot = this.slots.find((each) => each.child === child)
      const { pid } = processOf(child)
      const fields = { ...(slot && logFields(slot.number)), childPid: pid, seconds: heartbeatTimeoutMs / 1_000 }
      this.#log.error(fields, messages.heartbeatTimedOut)
      processOf(child).kill('SIGKILL')
    }
    onCheck?.()
  }
}
