/** The audit log for operators, newest entry first. */

import { parseEmail } from '../../accounts/account.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../../accounts/audit.ts'
import { addDays, startOfDay } from '../../values/time.ts'
import { jsonResponse } from '../app/app-handler.ts'
import { readDay, utcText, valueError } from '../app/request-values.ts'
import type { OperatorResponse } from './repeated-request.ts'
import type { OperatorCall } from './route.ts'
import { readCount } from './values.ts'

const AUDIT_ROWS = { fallback: 50, max: 500 }

/** Throws `value_invalid` for an unknown action. */
function readAction(text: unknown): AuditAction | null {
  if (text === undefined || text === '') return null
  const action = AUDIT_ACTIONS.find((each) => each === text)
  if (action === undefined) throw valueError('action', `"action" must be one of ${AUDIT_ACTIONS.join(', ')}.`)
  return action
}

export async function showAuditReport({ context, query }: OperatorCall): Promise<OperatorResponse> {
  const [from, to] = [readDay(query, 'from'), readDay(query, 'to')]
  const limit = readCount(query.limit, 'limit', AUDIT_ROWS)
  const before = query.before === undefined ? null : readCount(query.before, 'before', { fallback: 1, max: 1e12 })
  const email = query.email === undefined || query.email === '' ? null : parseEmail(String(query.email))
  if (query.email && email === null) throw valueError('email', '"email" must be an email address.')
  const filter = {
    email,
    action: readAction(query.action),
    from: from === null ? null : startOfDay(from),
    to: to === null ? null : startOfDay(addDays(to, 1)),
  }
  const entries = await context.ledger.recentAudit(filter, before, limit + 1)
  const shown = entries.slice(0, limit)
  return jsonResponse(200, {
    entries: shown.map((entry) => ({ ...entry, time: utcText(entry.time) })),
    next: entries.length > limit ? shown.at(-1)!.id : null,
  })
}
