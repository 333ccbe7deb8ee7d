/** The reads and writes of the web page's sign-in on PostgreSQL. */

import type { SignIns } from '../../../port/sign-in.ts'
import type { Database } from '../../database/database.ts'
import { attempts } from './attempts.ts'
import { links } from './links.ts'
import { passwordReads } from './passwords.ts'
import { sessions } from './sessions.ts'

export function postgresSignIns(database: Pick<Database, 'read' | 'transaction'>): SignIns {
  return { ...passwordReads(database), ...sessions(database), ...links(database), ...attempts(database) }
}
