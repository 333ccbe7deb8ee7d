/** Errors of a store, with messages for the person who runs it. */

/** Names the thing and says what to do. Shown without a stack trace. */
export class StoreFault extends Error {
  /** Whether a write failed because no space was left. */
  readonly isDiskFull: boolean

  constructor(message: string, { isDiskFull = false, ...options }: ErrorOptions & { isDiskFull?: boolean } = {}) {
    super(message, options)
    this.isDiskFull = isDiskFull
  }
}

/** The store does not respond or refuses connections. It may recover. */
export class StoreUnavailableFault extends StoreFault {}

/** It is unknown whether the write succeeded. */
export class UncertainWriteFault extends StoreFault {}
