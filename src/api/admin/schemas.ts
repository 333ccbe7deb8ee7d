/** The JSON Schemas of the operator's API. */

import { ADDONS, PLANS, ROLES } from '../../accounts/account.ts'
import { AUDIT_ACTIONS } from '../../accounts/audit.ts'
import { exactObject, type JsonSchema, Type, UtcInstantSchema } from '../endpoints/schema.ts'

const orNull = (schema: JsonSchema, description?: string): JsonSchema =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
const Day = (description?: string): JsonSchema =>
  Type.String({ format: 'date', examples: ['2026-01-31'], ...(description !== undefined && { description }) })
const Email = Type.String({ examples: ['ann@example.com'] })
const Plan = Type.String({ enum: [...PLANS] })
const Role = Type.String({ enum: [...ROLES] })
const Addons = Type.Array(Type.String({ enum: [...ADDONS] }))
const PeriodSchema = exactObject({
  plan: Type.String({ enum: ['basic', 'premium'] }),
  first: Day('The first day, UTC.'),
  last: orNull(Day(), 'The last day, which is included; null: open.'),
})

export const AccountSchema = exactObject({
  id: Type.Integer(),
  email: Email,
  role: Role,
  plan: Plan,
  plan_in_force: Plan,
  periods: Type.Array(PeriodSchema),
  addons: Addons,
  created: UtcInstantSchema,
  suspended: orNull(UtcInstantSchema, 'Since when; null: it is not.'),
})
export const AccountPageSchema = exactObject({
  accounts: Type.Array(AccountSchema),
  next: orNull(Type.String(), 'The `after` of the next page; null on the last one.'),
})
export const NewAccountSchema = Type.Object({
  email: Email,
  plan: Type.Optional(Plan),
  role: Type.Optional(Role),
  periods: Type.Optional(Type.Array(PeriodSchema)),
  addons: Type.Optional(Addons),
})
export const AccountChangeSchema = Type.Object({
  plan: Type.Optional(Plan),
  role: Type.Optional(Role),
  suspended: Type.Optional(Type.Boolean()),
})
export const NewPeriodSchema = Type.Object({ ...PeriodSchema.properties, last: Type.Optional(orNull(Day())) })

const TokenSchema = exactObject({
  id: Type.Integer(),
  name: Type.String(),
  hint: Type.String({ description: 'The start of the token.' }),
  created: UtcInstantSchema,
  last_used: orNull(UtcInstantSchema),
  expires: orNull(UtcInstantSchema),
  revoked: orNull(UtcInstantSchema),
  today: Type.Integer({ description: 'Calls today.' }),
})
export const TokenPageSchema = exactObject({ tokens: Type.Array(TokenSchema) })
export const NewTokenSchema = Type.Object({
  name: Type.String({ description: '1 to 100 characters.' }),
  expires: Type.Optional(orNull(UtcInstantSchema, 'A day or an instant; null: never.')),
})
export const CreatedTokenSchema = exactObject({
  token: TokenSchema,
  secret: Type.String({ description: 'The token itself. No later response contains it.' }),
})

export const UsageReportSchema = exactObject({
  from: Day(),
  to: Day(),
  usage: Type.Array(
    exactObject({
      day: Day(),
      account: Type.Integer(),
      email: Email,
      endpoint: Type.String(),
      token: Type.Integer({ description: '0: calls of the web page.' }),
      token_name: Type.String(),
      calls: Type.Integer(),
    }),
  ),
  next: orNull(Type.String(), 'The `after` of the next page; null on the last one.'),
})
export const AuditReportSchema = exactObject({
  entries: Type.Array(
    exactObject({
      id: Type.Integer(),
      time: UtcInstantSchema,
      actor: Type.String(),
      origin: Type.String(),
      action: Type.String({ enum: [...AUDIT_ACTIONS] }),
      account: orNull(Type.Integer()),
      email: orNull(Type.String()),
      details: Type.Object({}),
    }),
  ),
  next: orNull(Type.Integer(), 'The `before` of the next page; null on the last one.'),
})

const Limit = (max: number, fallback: number): JsonSchema =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: max, default: fallback }))
const DAYS = {
  from: Type.Optional(Day('The first day; without it, the last 30 days.')),
  to: Type.Optional(Day('The last day; without it, today.')),
}
export const AccountQuerySchema = Type.Object({
  search: Type.Optional(Type.String({ description: 'The start of the email address.' })),
  after: Type.Optional(Type.String({ description: 'The `next` of the previous page.' })),
  limit: Limit(200, 50),
})
export const ConfirmQuerySchema = Type.Object({
  confirm: Type.String({ description: 'The email address of the account.' }),
  erase: Type.Optional(
    Type.Boolean({
      description:
        'Delete the usage and the audit log too. Without it, they stay under the number of the account, without its email address.',
    }),
  ),
})
export const UsageQuerySchema = Type.Object(DAYS)
export const UsageOfAllQuerySchema = Type.Object({
  ...DAYS,
  after: Type.Optional(Type.String({ description: 'The `next` of the previous page.' })),
  limit: Limit(1_000, 100),
})
export const AuditQuerySchema = Type.Object({
  email: Type.Optional(Email),
  action: Type.Optional(Type.String({ enum: [...AUDIT_ACTIONS], description: 'The kind of change.' })),
  from: Type.Optional(Day('The first day.')),
  to: Type.Optional(Day('The last day.')),
  before: Type.Optional(Type.Integer({ description: 'The `next` of the previous page.' })),
  limit: Limit(500, 50),
})

const OperatedRunSchema = exactObject({
  job: Type.String(),
  date: orNull(Day('The day of its file.')),
  holder: Type.String(),
  started: UtcInstantSchema,
  ended: orNull(UtcInstantSchema, 'Null while it runs.'),
  rows: orNull(Type.Integer()),
  error: orNull(Type.String()),
})
const OutcomeSchema = exactObject({
  kind: Type.String(),
  probes: Type.Integer(),
  servfail: Type.Integer(),
  nxdomain: Type.Integer(),
  no_website: Type.Integer(),
})
const CrawlerSchema = exactObject({
  holder: Type.String(),
  rate: orNull(Type.Number(), 'Probes per second; null: its report is unreadable.'),
  pause: orNull(exactObject({ seconds: Type.Number(), reason: Type.String() }), 'Null: it probes.'),
})
const CrawlSchema = exactObject({
  names: Type.Integer(),
  never_probed: Type.Integer(),
  due: Type.Integer(),
  overdue: Type.Integer({ description: 'Due for more than a day.' }),
  unswept_ranges: Type.Integer({ description: 'Ranges of names that are not counted yet, of 256.' }),
  requests: exactObject({ lookup: Type.Integer(), followup: Type.Integer() }),
  rate: Type.Number({ description: 'Probes per second of all crawlers in the last minute.' }),
  lag: orNull(exactObject({ p50: Type.Number(), p95: Type.Number(), p99: Type.Number() }), 'Seconds.'),
  last_day: Type.Array(OutcomeSchema),
  crawlers: Type.Array(CrawlerSchema),
})
const FindingSchema = exactObject({
  subject: Type.String(),
  state: Type.Union([Type.Literal('ok'), Type.Literal('off'), Type.Literal('warning'), Type.Literal('fault')]),
  message: Type.String(),
  advice: orNull(Type.String(), 'What to do; null if nothing.'),
})

export const OperationSchema = exactObject({
  version: Type.String(),
  now: UtcInstantSchema,
  crawl: CrawlSchema,
  locks: Type.Array(exactObject({ name: Type.String(), holder: Type.String() })),
  held: Type.Array(
    exactObject({
      date: Day(),
      rows: Type.Integer(),
      reason: Type.String(),
      release_requested: Type.Boolean({ description: 'An operator has released it; its file is built again soon.' }),
    }),
  ),
  store: exactObject({
    bytes: Type.Integer({ description: 'The size of the facts.' }),
    write_ahead_log_bytes: Type.Integer(),
    measured: orNull(UtcInstantSchema, 'When the tables were measured (`domaindex sizes`); null for never.'),
    tables: Type.Array(exactObject({ name: Type.String(), bytes: Type.Integer() }), {
      description: 'With their indexes, the largest first.',
    }),
  }),
  doctor: Type.Array(
    exactObject({ machine: Type.String(), at: UtcInstantSchema, findings: Type.Array(FindingSchema) }),
    { description: 'The last report of `domaindex doctor` of each machine, which servers with jobs make every hour.' },
  ),
  runs: Type.Array(OperatedRunSchema, { description: 'Of the last seven days, newest first.' }),
})

export const NewReleaseSchema = Type.Object({ date: Day('The day of a held file.') })
export const ReleaseSchema = exactObject({ date: Day(), release_requested: Type.Boolean() })
