/** The marks of the places where the installation keeps files, on PostgreSQL. */

import type { Ledger, PlaceName } from '../../port/ledger.ts'
import type { Database } from '../database/database.ts'

const READ_PLACE_MARK = { name: 'place-mark.read', text: 'select mark from place_mark where place = $1' }
const CLAIM_PLACE = {
  name: 'place-mark.claim',
  text: `insert into place_mark (place, mark) values ($1, $2)
on conflict (place) do update set mark = excluded.mark where place_mark.mark = $3`,
}

export function postgresPlaceMarks({
  read,
  transaction,
}: Pick<Database, 'read' | 'transaction'>): Pick<Ledger, 'placeMark' | 'claimPlace'> {
  const placeMark = async (place: PlaceName): Promise<string | null> =>
    (await read<{ mark: string }>(READ_PLACE_MARK, [place]))[0]?.mark ?? null
  return {
    placeMark,
    async claimPlace(place, mark, former) {
      await transaction(({ run }) => run(CLAIM_PLACE, [place, mark, former]))
      return (await placeMark(place))!
    },
  }
}
