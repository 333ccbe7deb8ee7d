/** The settings of the finished files and of the plans. */

import { type FileStoreSettings, isFileLocation } from '../jobs/file-store/location.ts'
import { isOrigin, parseSwitch, parseWholeNumber, type Setting } from './parse.ts'

export type FileSettings = FileStoreSettings & {
  /** The path of the file that changes the limits of the plans. Null: there is none. */
  plans: string | null
  /** The number of snapshots of each edition that are kept. */
  snapshotsKept: number
  /** Whether snapshots are built as Parquet too. */
  snapshotParquet: boolean
}

export const FILE_SETTINGS: { readonly [Key in keyof FileSettings]: Setting<FileSettings[Key]> } = {
  files: {
    name: 'DOMAINDEX_FILES',
    defaultText: 'data/files',
    meaning:
      'Where the finished daily files, follow-up files and snapshots are: a folder, or a place in S3. ' +
      'Servers that share a store share these files too.',
    allowed:
      "a folder path, or s3://BUCKET/PREFIX without user and password; PREFIX may have letters, digits and !-_.*'()=/",
    parse: (text) => (isFileLocation(text) ? text : undefined),
  },
  filesEndpoint: {
    name: 'DOMAINDEX_FILES_ENDPOINT',
    defaultText: '',
    meaning: 'The server of S3, if DOMAINDEX_FILES is in S3. By default that of Amazon in DOMAINDEX_FILES_REGION.',
    allowed: 'an http:// or https:// URL without a path',
    parse: (text) => (text === '' ? null : isOrigin(text) ? text : undefined),
  },
  filesRegion: {
    name: 'DOMAINDEX_FILES_REGION',
    defaultText: 'us-east-1',
    meaning:
      'The region of the bucket, if DOMAINDEX_FILES is in S3. Servers other than those of Amazon often ignore it.',
    allowed: 'letters, digits and hyphens, such as eu-central-1',
    parse: (text) => (/^[a-z\d-]{1,40}$/i.test(text) ? text : undefined),
  },
  plans: {
    name: 'DOMAINDEX_PLANS',
    defaultText: '',
    meaning:
      'A JSON file that changes the limits of the plans free, basic and premium. A command reads it when it starts.',
    allowed: 'a file path',
    parse: (text) => (text === '' ? null : text),
  },
  snapshotsKept: {
    name: 'DOMAINDEX_SNAPSHOTS_KEPT',
    defaultText: '7',
    meaning: 'How many snapshots of each edition are kept. A new snapshot replaces the oldest one.',
    allowed: 'a whole number from 1 to 10000',
    parse: (text) => parseWholeNumber(text, 1, 10_000),
  },
  snapshotParquet: {
    name: 'DOMAINDEX_SNAPSHOT_PARQUET',
    defaultText: 'off',
    meaning: 'Whether each snapshot is also built as Parquet. `/files` lists these files, and delivers them.',
    allowed: 'on or off',
    parse: parseSwitch,
  },
}
