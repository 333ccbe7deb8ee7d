/** The errors of files that could not be built, with a message for the operator. */

export class BuildFault extends Error {
  override name = 'BuildFault'
}

/** A file store does not respond, or rejects a request. */
export class FileStoreFault extends BuildFault {
  override name = 'FileStoreFault'
  /** Whether only a change of settings or rights helps. Otherwise, the file store may respond again by itself. */
  readonly isLasting: boolean

  constructor(message: string, isLasting: boolean, cause: unknown) {
    super(message, { cause })
    this.isLasting = isLasting
  }
}
