/** The tokens of operators, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../../../accounts/audit.ts'
import type { Token } from '../../../../accounts/token.ts'
import type { Instant } from '../../../../values/time.ts'
import type { OperatorLedger } from '../../../port/operator.ts'
import { auditWrites } from '../audit.ts'
import type { StoredNewToken } from '../tokens.ts'

const COLUMNS = 'id, name, hint, created, expires, last_used, revoked'

export function operatorTokenReads(database: DatabaseSync) {
  const readAll = database.prepare(`select ${COLUMNS} from operator_token order by id`)
  const find = database.prepare(`select ${COLUMNS} from operator_token where hash = ?`)
  return {
    operatorTokens: async () => (readAll.all() as Token[]).map((row) => ({ ...row })),
    async findOperatorToken(hash) {
      const row = find.get(hash) as Token | undefined
      return row === undefined ? null : { ...row }
    },
  } satisfies Partial<OperatorLedger>
}

export function operatorTokenWrites(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into operator_token (name, hint, hash, created, expires) values (?, ?, unhex(?), ?, ?)',
  )
  const revoke = database.prepare(
    `update operator_token set revoked = ?1 where id = ?2 and revoked is null and (expires is null or expires > ?1)
     returning name`,
  )
  const touch = database.prepare(
    'update operator_token set last_used = ?1 where id = ?2 and (last_used is null or last_used < ?1)',
  )
  const { ofInstallation } = auditWrites(database)
  return {
    createOperatorToken(now: Instant, actor: Actor, { name, hint, hash, expires }: StoredNewToken): Token {
      const id = Number(insert.run(name, hint, hash, now, expires).lastInsertRowid)
      ofInstallation(now, actor, 'operator_token.create', { token: id, name, expires })
      return { id, name, hint, created: now, expires, last_used: null, revoked: null }
    },
    revokeOperatorToken(now: Instant, actor: Actor, token: number): boolean {
      const revoked = revoke.get(now, token)
      if (revoked === undefined) return false
      ofInstallation(now, actor, 'operator_token.revoke', { token, name: revoked.name })
      return true
    },
    touchOperatorToken(now: Instant, token: number): void {
      touch.run(now, token)
    },
  }
}
