/** The import formats of other crawls. */

import { cofFormat } from './cof.ts'
import { massdnsFormat } from './massdns.ts'
import type { ImportFormat } from './sighting.ts'
import { zdnsFormat } from './zdns.ts'

export const IMPORT_FORMATS = { zdns: zdnsFormat, massdns: massdnsFormat, cof: cofFormat } satisfies Record<
  string,
  ImportFormat
>
export type ImportFormatName = keyof typeof IMPORT_FORMATS
