/** The error of a file that could not be built, with a message for the operator. */

export class BuildFault extends Error {
  override name = 'BuildFault'
}
