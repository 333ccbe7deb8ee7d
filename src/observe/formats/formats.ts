/** Which formats of other crawls there are. */

import { cof } from './cof.ts'
import { massdns } from './massdns.ts'
import type { Format } from './sighting.ts'
import { zdns } from './zdns.ts'

export const FORMATS = { zdns, massdns, cof } satisfies Record<string, Format>
export type FormatName = keyof typeof FORMATS
