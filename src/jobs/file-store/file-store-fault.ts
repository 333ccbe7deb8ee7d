/** The error of a file store that does not respond, or rejects a request, with a message for the operator. */

import { BuildFault } from './build-fault.ts'

export class FileStoreFault extends BuildFault {
  override name = 'FileStoreFault'
  /** Whether only a change of settings or rights helps. Otherwise, the file store may respond again by itself. */
  readonly isLasting: boolean

  constructor(message: string, isLasting: boolean, cause: unknown) {
    super(message, { cause })
    this.isLasting = isLasting
  }
}
