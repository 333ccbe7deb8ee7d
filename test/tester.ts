/** The actor that makes the changes of tests. */

import type { Actor } from '../src/accounts/audit.ts'

export const TESTER: Actor = { user: 'tester@here', origin: 'a test' }
