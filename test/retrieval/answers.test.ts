/** What /similar answers, on SQLite. */

import { answers } from './answers.ts'
import { openSqliteAt } from './world.ts'

answers(openSqliteAt, 30)
