/** The tokens of operators, on PostgreSQL. */

import type { Actor } from '../../../../accounts/audit.ts'
import type { Token } from '../../../../accounts/token.ts'
import type { OperatorLedger, OperatorTokenChanges } from '../../../port/operator.ts'
import type { Database } from '../../database/database.ts'
import { writeInstallationAudit } from '../audit.ts'
import { TOKEN_COLUMNS } from '../tokens.ts'

const READ_OPERATOR_TOKENS = {
  name: 'operator-token.all',
  text: `select ${TOKEN_COLUMNS} from operator_token order by id`,
}
const FIND_OPERATOR_TOKEN = {
  name: 'operator-token.find',
  text: `select ${TOKEN_COLUMNS} from operator_token where hash = $1`,
}
const INSERT_OPERATOR_TOKEN = {
  name: 'operator-token.insert',
  text: `insert into operator_token (name, hint, hash, created, expires) values ($1, $2, $3, $4, $5)
    returning ${TOKEN_COLUMNS}`,
}
const REVOKE_OPERATOR_TOKEN = {
  name: 'operator-token.revoke',
  text: `update operator_token set revoked = $2 where id = $1
    and revoked is null and (expires is null or expires > $2) returning name`,
}
const TOUCH_OPERATOR_TOKEN = {
  name: 'operator-token.touch',
  text: 'update operator_token set last_used = $2 where id = $1 and (last_used is null or last_used < $2)',
}

export function postgresOperatorTokens({ read, transaction }: Pick<Database, 'read' | 'transaction'>) {
  return {
    operatorTokens: () => read<Token>(READ_OPERATOR_TOKENS, []),
    findOperatorToken: async (hash) => (await read<Token>(FIND_OPERATOR_TOKEN, [hash]))[0] ?? null,
    touchOperatorToken: (token, now) =>
      transaction(async ({ run }) => void (await run(TOUCH_OPERATOR_TOKEN, [token, now]))),
  } satisfies Partial<OperatorLedger>
}

export function postgresOperatorTokenWrites(
  { transaction }: Pick<Database, 'transaction'>,
  actor: Actor,
): OperatorTokenChanges {
  return {
    createOperatorToken: ({ name, hint, hash, expires }, now) =>
      transaction(async (session) => {
        const [token] = await session.rows<Token>(INSERT_OPERATOR_TOKEN, [name, hint, hash, now, expires])
        const details = { token: token!.id, name, expires }
        await writeInstallationAudit(session, actor, now, 'operator_token.create', details)
        return token!
      }),
    revokeOperatorToken: (token, now) =>
      transaction(async (session) => {
        const [revoked] = await session.rows<{ name: string }>(REVOKE_OPERATOR_TOKEN, [token, now])
        if (revoked === undefined) return false
        const details = { token, name: revoked.name }
        await writeInstallationAudit(session, actor, now, 'operator_token.revoke', details)
        return true
      }),
  }
}
