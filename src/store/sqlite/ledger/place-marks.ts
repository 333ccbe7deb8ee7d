/** The marks of the places where the installation keeps files, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../values/time.ts'
import type { PlaceName } from '../../port/ledger.ts'

export function placeMarkReads(database: DatabaseSync) {
  const read = database.prepare('select mark from place_mark where place = ?')
  return {
    placeMark: (place: PlaceName): string | null => (read.get(place) as { mark: string } | undefined)?.mark ?? null,
  }
}

export function placeMarkWrites(database: DatabaseSync) {
  const upsert = database.prepare(
    `insert into place_mark (place, mark) values (?, ?)
     on conflict (place) do update set mark = excluded.mark where place_mark.mark = ?`,
  )
  const { placeMark } = placeMarkReads(database)
  return {
    claimPlace(_now: Instant, place: PlaceName, mark: string, former: string | null): string {
      upsert.run(place, mark, former)
      return placeMark(place)!
    },
  }
}
