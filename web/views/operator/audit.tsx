/** /operator/audit: who changed accounts, tokens and secrets, newest change first. */

import type { InputHTMLAttributes } from 'preact'
import { useState } from 'preact/hooks'
import { useFresh } from '../../client/loaded.ts'
import { navigate, pageAddress } from '../../client/router.ts'
import { useSignal } from '../../client/signal.ts'
import { Button, LinkButton } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { EmptyState, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { formatUtc, parseInstant } from '../../parts/text/times.ts'
import { AUDITED_CHANGES } from './audit-actions.ts'

type AuditEntry = {
  id: number
  time: string
  actor: string
  origin: string
  action: string
  account: number | null
  email: string | null
  details: Record<string, unknown>
}
type AuditBody = { entries: AuditEntry[]; next: number | null }

type FieldInput = InputHTMLAttributes<HTMLInputElement>

const FILTERS = ['email', 'action', 'from', 'to'] as const

export function AuditPage() {
  const { query } = useSignal(pageAddress)
  const filter = new URLSearchParams(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : [])))
  const before = /^\d+$/.exec(query.get('before') ?? '')?.[0]
  const call = new URLSearchParams({ ...Object.fromEntries(filter), ...(before !== undefined && { before }) })
  const { loaded, reload } = useFresh<AuditBody>(`/admin/v1/audit?${call}`)
  return (
    <Card title="Changes, newest first">
      <AuditFilter key={String(filter)} filter={filter} />
      <LoadedView loaded={loaded} what="the audit log" onRetry={() => void reload()}>
        {(body) => <AuditTable {...body} filter={filter} />}
      </LoadedView>
    </Card>
  )
}

/** The filter is part of the address, so that it can be kept and sent. */
function AuditFilter({ filter }: { filter: URLSearchParams }) {
  const [values, setValues] = useState(Object.fromEntries(filter) as Record<string, string>)
  const submit = (event: Event): void => {
    event.preventDefault()
    const set = Object.entries(values).filter(([, value]) => value.trim() !== '')
    navigate(`/operator/audit?${new URLSearchParams(set)}`)
  }
  const field = (name: string, label: string, input: FieldInput) => (
    <Field
      label={label}
      name={name}
      value={values[name] ?? ''}
      onValue={(value) => setValues({ ...values, [name]: value })}
      input={input}
    />
  )
  return (
    <form class="operator-row" onSubmit={submit} aria-label="Filter">
      {field('email', 'Account', { type: 'email', autoComplete: 'off' })}
      <Select
        label="Change"
        value={values.action ?? ''}
        onValue={(action) => setValues({ ...values, action })}
        options={[['', 'all'], ...AUDITED_CHANGES.map((action): [string, string] => [action, action])]}
      />
      {field('from', 'From', { type: 'date' })}
      {field('to', 'To', { type: 'date' })}
      <Button type="submit">Filter</Button>
    </form>
  )
}

function AuditTable({ entries, next, filter }: AuditBody & { filter: URLSearchParams }) {
  if (entries.length === 0) return <EmptyState title="No changes">Nothing fits, or nothing is older.</EmptyState>
  return (
    <>
      <Table
        caption="Audit log"
        stacks
        isDense
        keyOf={({ id }) => id}
        rows={entries}
        columns={[
          { name: 'Time', cell: ({ time }) => formatUtc(parseInstant(time)) },
          { name: 'Change', cell: ({ action }) => <span class="mono">{action}</span> },
          { name: 'Account', cell: (entry) => <span class="wrap">{accountText(entry)}</span> },
          { name: 'By', cell: ({ actor, origin }) => <span class="wrap">{`${actor}, ${origin}`}</span> },
          { name: 'Details', cell: ({ details }) => <span class="mono wrap">{detailsText(details)}</span> },
        ]}
      />
      {next !== null && (
        <p class="card-actions">
          <LinkButton
            href={`/operator/audit?${new URLSearchParams({ ...Object.fromEntries(filter), before: String(next) })}`}
          >
            Older changes
          </LinkButton>
        </p>
      )}
    </>
  )
}

/** Whom an entry is about. That of an erased account does not say which one it was. */
function accountText({ account, email, action }: AuditEntry): string {
  if (account !== null) return email ?? `deleted account ${account}`
  return action.startsWith('account.') ? 'an erased account' : 'the installation'
}

function detailsText(details: AuditEntry['details']): string {
  return Object.entries(details)
    .map(([key, value]) => `${key} ${Array.isArray(value) ? value.join(' ') || 'none' : String(value ?? 'none')}`)
    .join(', ')
}
