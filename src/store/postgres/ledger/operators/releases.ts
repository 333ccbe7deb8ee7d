/** The requests to release held files, on PostgreSQL. */

import type { Actor } from '../../../../accounts/audit.ts'
import type { Day } from '../../../../values/time.ts'
import type { OperatorLedger, ReleaseChanges } from '../../../port/operator.ts'
import type { Database } from '../../database/database.ts'
import { writeInstallationAudit } from '../audit.ts'

const READ_RELEASES = { name: 'release.all', text: 'select day from release_request order by day' }
const INSERT_RELEASE = {
  name: 'release.insert',
  text: 'insert into release_request (day, requested) values ($1, $2) on conflict do nothing',
}
const REMOVE_RELEASE = { name: 'release.remove', text: 'delete from release_request where day = $1' }

export function postgresReleases({ read, transaction }: Pick<Database, 'read' | 'transaction'>) {
  return {
    releaseRequests: async () => (await read<{ day: Day }>(READ_RELEASES, [])).map(({ day }) => day),
    completeRelease: (day) => transaction(async ({ run }) => void (await run(REMOVE_RELEASE, [day]))),
  } satisfies Partial<OperatorLedger>
}

export function postgresReleaseWrites({ transaction }: Pick<Database, 'transaction'>, actor: Actor): ReleaseChanges {
  return {
    requestRelease: (day, now) =>
      transaction(async (session) => {
        if ((await session.run(INSERT_RELEASE, [day, now])) === 0) return false
        await writeInstallationAudit(session, actor, now, 'daily.release', { day })
        return true
      }),
  }
}
