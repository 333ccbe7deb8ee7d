/** The error of a file store that does not respond, or rejects a request, with a message for the operator. */

import { BuildFault } from './build-fault.ts'

export class FileStoreFault extends BuildFault {
  override name = 'FileStoreFault'
}
