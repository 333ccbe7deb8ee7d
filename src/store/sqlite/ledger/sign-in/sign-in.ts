/** The reads and writes of the web page's sign-in on SQLite. Writes go to the process that writes the ledger. */

import type { DatabaseSync } from 'node:sqlite'
import type { SignIns } from '../../../port/sign-in.ts'
import type { LedgerWrite } from '../writing/calls.ts'
import { attemptReads } from './attempts.ts'
import { passwordReads } from './passwords.ts'
import { sessionReads } from './sessions.ts'
import { withHexHash } from './stored-hash.ts'

export function sqliteSignIns(database: DatabaseSync, write: LedgerWrite): SignIns {
  return {
    ...passwordReads(database),
    ...sessionReads(database),
    ...attemptReads(database),
    createSession: (session, now) => write('createSession', [withHexHash(session)], now),
    touchSession: (session, now) => write('touchSession', [session], now),
    endSession: (account, session) => write('endSession', [account, session]),
    endSessions: (account, except) => write('endSessions', [account, except]),
    createLink: (link, now) => write('createLink', [withHexHash(link)], now),
    takeLink: (hash, kind, now) => write('takeLink', [Buffer.from(hash).toString('hex'), kind], now),
    countAttempt: (limits, now) => write('countAttempt', [limits], now),
    clearAttempts: (keys) => write('clearAttempts', [keys]),
  }
}
