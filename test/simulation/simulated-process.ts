/**
 * A simulated process: counts its calls of the disk and of the store, and dies at one of them, or lets one fail. What
 * calls a dead process never continues, so that no code of it runs after its death.
 */

/** The calls of a process. `data`: writes the content of a file. `write`: changes the disk otherwise. */
export type CallKind = 'read' | 'write' | 'data' | 'store'
/**
 * What happens at the call with this number, counted from the moment at which it was planned. `fail`: of a change of the
 * disk, the next one if that call is another. `tear`: of content, of which a part is written.
 */
export type Disturbance =
  | { call: number; what: 'die before' | 'die after' }
  | { call: number; what: 'fail' | 'tear'; code: string }

const never = (): Promise<never> => new Promise(() => {})

export class SimulatedProcess {
  readonly number: number
  /** Resolves when the process dies. */
  readonly death: Promise<'died'>
  /** Ends what a dying process leaves open in the real process. */
  readonly onDeath: (() => Promise<void>)[] = []
  isDead = false
  /** How many planned failures have happened. */
  failures = 0
  #die: (died: 'died') => void
  #calls = 0
  #planned: Disturbance | null = null

  constructor(number: number) {
    this.number = number
    const { promise, resolve } = Promise.withResolvers<'died'>()
    this.death = promise
    this.#die = resolve
  }

  plan(disturbance: Disturbance | null): void {
    this.#calls = 0
    this.#planned = disturbance
  }

  die(): void {
    this.isDead = true
    this.#die('died')
  }

  /** Runs a call. `fail` receives the code of the error with which a write fails, and throws. */
  async call<Result>(
    kind: CallKind,
    work: () => Result | Promise<Result>,
    fail: (code: string) => Result = () => never() as Result,
  ): Promise<Result> {
    if (this.isDead) return never()
    const disturbance = this.#due(kind)
    if (disturbance?.what === 'die before') {
      this.die()
      return never()
    }
    if (disturbance !== null && 'code' in disturbance) {
      this.failures++
      return fail(disturbance.code)
    }
    const result = await work()
    if (disturbance?.what === 'die after') this.die()
    return this.isDead ? never() : result
  }

  #due(kind: CallKind): Disturbance | null {
    const planned = this.#planned
    if (planned === null || ++this.#calls < planned.call) return null
    if (planned.what === 'tear' && kind !== 'data') return null
    if (planned.what === 'fail' && kind !== 'write' && kind !== 'data') return null
    this.#planned = null
    return planned
  }
}

type Callable = (...values: unknown[]) => unknown

/** The store of a process: each call of it is a call of the process. */
export function storeOf<Part extends object>(part: Part, owner: SimulatedProcess): Part {
  const wrapped = new Map<PropertyKey, unknown>()
  const wrap = (value: unknown): unknown => {
    if (typeof value === 'object' && value !== null) return storeOf(value, owner)
    if (typeof value !== 'function') return value
    return (...values: unknown[]) => {
      if (owner.isDead) return never()
      const start = (): unknown => (value as Callable).apply(part, values)
      if (value.name === 'as') return storeOf(start() as object, owner)
      return owner.call('store', async () => {
        const result = await start()
        if (isOpened(result)) owner.onDeath.push(() => result.close().catch(() => {}))
        return result
      })
    }
  }
  return new Proxy(part, {
    get(_, key) {
      if (!wrapped.has(key)) wrapped.set(key, wrap(part[key as keyof Part]))
      return wrapped.get(key)
    },
  })
}

/** A listing has a connection of its own. */
function isOpened(result: unknown): result is { close: () => Promise<void> } {
  return typeof result === 'object' && result !== null && 'close' in result
}
