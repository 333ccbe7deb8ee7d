/** The types of pg-copy-streams that are used here. The package has none. */

declare module 'pg-copy-streams' {
  import type { Writable } from 'node:stream'
  import type { Submittable } from 'pg'
  export function from(statement: string): Writable & Submittable
}
