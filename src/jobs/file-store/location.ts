/** Where finished files are: a folder, or a place in S3. */

/** A place in S3. `prefix` is empty or ends with `/`. */
export type S3Location = { bucket: string; prefix: string }

/** Where the files are. `files`: a folder path or `s3://BUCKET/PREFIX`. `filesEndpoint`: null for that of Amazon. */
export type FileStoreSettings = { files: string; filesEndpoint: string | null; filesRegion: string }

/** Whether a text names a place for files. A URL of another kind, or with a user or a password, does not. */
export function isFileLocation(text: string): boolean {
  return isUrl(text) ? parseS3Location(text) !== null : text !== ''
}

/** Whether a text begins like a URL, and so does not name a file or a folder. `s3:/BUCKET` is one too. */
export function isUrl(text: string): boolean {
  return /^[a-z][a-z\d+.-]+:/i.test(text)
}

/** Parses `s3://BUCKET/PREFIX`; null if the text is not such a URL. The prefix is optional. */
export function parseS3Location(text: string): S3Location | null {
  const [, bucket, path = ''] = /^s3:\/\/([a-z\d][a-z\d.-]{1,61}[a-z\d])((?:\/[\w!.*'()=-]+)*)\/?$/.exec(text) ?? []
  if (bucket === undefined || /\/\.{1,2}(\/|$)/.test(path)) return null
  return { bucket, prefix: path === '' ? '' : `${path.slice(1)}/` }
}

/** The folder of the files, as a list; an empty list if they are not in a folder. */
export function fileFolders({ files }: Pick<FileStoreSettings, 'files'>): string[] {
  return parseS3Location(files) === null ? [files] : []
}
