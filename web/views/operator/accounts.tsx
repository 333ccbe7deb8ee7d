/** /operator: the accounts by email address, the search, and the dialog that creates one. */

import { useEffect, useState } from 'preact/hooks'
import { callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { navigate, pageAddress } from '../../client/router.ts'
import { useSignal } from '../../client/signal.ts'
import { Button, LinkButton } from '../../parts/button.tsx'
import { Badge, Card } from '../../parts/card.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Icon } from '../../parts/icons.tsx'
import { EmptyState, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { Day } from '../../parts/time.tsx'
import { CreationDialog, fieldError, useForm } from '../account/form.tsx'
import { type OperatedAccount, PLAN_OPTIONS } from './operated-account.ts'

type AccountsBody = { accounts: OperatedAccount[]; next: string | null }

export function AccountsPage() {
  const { query } = useSignal(pageAddress)
  const { loaded, reload } = useFresh<AccountsBody>(`/admin/v1/accounts?${pageQuery(query)}`)
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Card
      title="All accounts"
      aside={
        <Button kind="primary" isSmall onClick={() => setIsOpen(true)}>
          <Icon name="plus" /> Create an account
        </Button>
      }
    >
      <Search value={query.get('search') ?? ''} />
      <LoadedView loaded={loaded} what="the accounts" onRetry={() => void reload()}>
        {(body) => <AccountList {...body} search={query.get('search') ?? ''} />}
      </LoadedView>
      {isOpen && <CreateAccountDialog onClose={() => setIsOpen(false)} />}
    </Card>
  )
}

function pageQuery(query: URLSearchParams): string {
  const wanted = ['search', 'after'].flatMap((key) => {
    const value = query.get(key)
    return value === null || value === '' ? [] : [[key, value]]
  })
  return new URLSearchParams(wanted).toString()
}

function Search({ value }: { value: string }) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value]) // Back changes the address
  const submit = (event: Event): void => {
    event.preventDefault()
    navigate(text === '' ? '/operator' : `/operator?search=${encodeURIComponent(text)}`)
  }
  return (
    <form class="operator-row" onSubmit={submit}>
      <Field
        label="Email address starts with"
        name="search"
        value={text}
        onValue={setText}
        input={{ type: 'search', autoComplete: 'off' }}
      />
      <Button type="submit">Search</Button>
    </form>
  )
}

function AccountList({ accounts, next, search }: AccountsBody & { search: string }) {
  if (accounts.length === 0) return <EmptyState title="No such account">No email address starts like this.</EmptyState>
  const more = new URLSearchParams({ ...(search !== '' && { search }), after: next ?? '' })
  return (
    <>
      <Table
        caption="Accounts"
        stacks
        keyOf={({ id }) => id}
        rows={accounts}
        columns={[
          { name: 'Email address', cell: ({ id, email }) => <a href={`/operator/accounts/${id}`}>{email}</a> },
          { name: 'Plan', cell: ({ plan_in_force: plan }) => plan },
          { name: 'State', cell: (account) => <AccountState account={account} /> },
          { name: 'Add-ons', cell: ({ addons }) => addons.join(', ') || <span class="hint">none</span> },
          { name: 'Created', cell: ({ created }) => <Day at={created} /> },
        ]}
      />
      {next !== null && (
        <p class="card-actions">
          <LinkButton href={`/operator?${more}`}>Next page</LinkButton>
        </p>
      )}
    </>
  )
}

export function AccountState({ account: { suspended, role } }: { account: OperatedAccount }) {
  if (suspended !== null) return <Badge tone="bad">suspended</Badge>
  return role === 'admin' ? <Badge tone="accent">operator</Badge> : <Badge tone="good">active</Badge>
}

function CreateAccountDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [plan, setPlan] = useState('free')
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    const { id } = await callServer<OperatedAccount>('/admin/v1/accounts', { method: 'POST', body: { email, plan } })
    navigate(`/operator/accounts/${id}`)
  })
  return (
    <CreationDialog title="Create an account" error={error} isBusy={isBusy} onSubmit={submit} onClose={onClose}>
      <Field
        label="Email address"
        name="email"
        value={email}
        onValue={setEmail}
        error={fieldError(error, 'email')}
        input={{ type: 'email', required: true, autoComplete: 'off' }}
      />
      <Select label="Plan" value={plan} onValue={setPlan} options={PLAN_OPTIONS} />
    </CreationDialog>
  )
}
