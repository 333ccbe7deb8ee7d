/** Why a file was not built, in words for whoever runs the installation. */

export class BuildFault extends Error {
  override name = 'BuildFault'
}
