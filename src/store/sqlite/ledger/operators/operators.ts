/** The ledger's part for operators, on SQLite. Writes go to the process that writes the ledger. */

import type { DatabaseSync } from 'node:sqlite'
import type { OperatorLedger } from '../../../port/operator.ts'
import type { LedgerWrite } from '../writing/calls.ts'
import { releaseReads } from './releases.ts'
import { operatorTokenReads } from './tokens.ts'

export function sqliteOperatorLedger(database: DatabaseSync, write: LedgerWrite): OperatorLedger {
  return {
    ...operatorTokenReads(database),
    ...releaseReads(database),
    touchOperatorToken: (token, now) => write('touchOperatorToken', [token], now),
    claimAnswer: (max, key, request, now) =>
      write('claimAnswer', [max, key, Buffer.from(request).toString('hex')], now),
    storeAnswer: (key, answer) => write('storeAnswer', [key, answer]),
    releaseAnswer: (key) => write('releaseAnswer', [key]),
    completeRelease: (day) => write('completeRelease', [day]),
  }
}
