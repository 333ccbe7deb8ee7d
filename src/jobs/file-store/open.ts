/** Opens the file store that DOMAINDEX_FILES names. */

import type { FileStore } from './file-store.ts'
import { openFolderFileStore } from './folder.ts'
import { type FileStoreSettings, parseS3Location } from './location.ts'

/** Opens the file store. The client of S3 is loaded only for a place in S3. */
export async function openFileStore({ files, filesEndpoint, filesRegion }: FileStoreSettings): Promise<FileStore> {
  const location = parseS3Location(files)
  if (location === null) return openFolderFileStore(files)
  const { openS3FileStore } = await import('./s3/store.ts')
  return openS3FileStore({ ...location, endpoint: filesEndpoint, region: filesRegion })
}
