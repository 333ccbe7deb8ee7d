/** The tokens of an account, for its operator. */

import { useState } from 'preact/hooks'
import { callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { Button, RowAction } from '../../parts/button.tsx'
import { Badge, Card } from '../../parts/card.tsx'
import { Field } from '../../parts/field.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { formatCount } from '../../parts/text/numbers.ts'
import { AgoOrNever, Day } from '../../parts/time.tsx'
import { FormError, fieldError, useForm } from '../account/form.tsx'
import { type CreatedToken, type ListedToken, TokenSecretDialog } from '../account/tokens.tsx'
import { type OperatedAccount, operatorPath } from './operated-account.ts'

export function OperatedTokens({ account }: { account: OperatedAccount }) {
  const path = `${operatorPath(account)}/tokens`
  const { loaded, reload } = useFresh<{ tokens: ListedToken[] }>(path)
  return (
    <Card title="Tokens">
      <LoadedView loaded={loaded} what="the tokens" onRetry={() => void reload()}>
        {({ tokens }) => <OperatedTokenList tokens={tokens} path={path} reload={reload} />}
      </LoadedView>
      <NewToken path={path} reload={reload} />
    </Card>
  )
}

type ListProps = { path: string; reload: () => Promise<void> }

function OperatedTokenList({ tokens, path, reload }: ListProps & { tokens: ListedToken[] }) {
  const { error, isBusy, run } = useForm()
  const revoke = ({ id, name }: ListedToken): void =>
    void run(async () => {
      await callServer(`${path}/${id}`, { method: 'DELETE' })
      announce(`${name} is revoked.`)
      await reload()
    })
  if (tokens.length === 0) return <EmptyState title="No token">The owner or an operator creates one.</EmptyState>
  return (
    <>
      {error !== null && <ErrorBox error={error} />}
      <Table
        caption="Tokens of the account"
        stacks
        keyOf={({ id }) => id}
        rows={tokens}
        columns={[
          { name: 'Name', cell: (token) => <TokenTitle token={token} /> },
          { name: 'Created', cell: ({ created }) => <Day at={created} /> },
          { name: 'Last used', cell: ({ last_used: at }) => <AgoOrNever at={at} /> },
          { name: 'Calls today', isNumber: true, cell: ({ today }) => formatCount(today) },
          {
            name: 'Action',
            isHidden: true,
            cell: (token) =>
              token.revoked === null && (
                <RowAction text="Revoke" what={token.name} isBusy={isBusy} onAct={() => revoke(token)} />
              ),
          },
        ]}
      />
    </>
  )
}

function TokenTitle({ token: { name, hint, revoked } }: { token: ListedToken }) {
  return (
    <span class="token-name">
      <span>
        <strong>{name}</strong> {revoked !== null && <Badge tone="bad">revoked</Badge>}
      </span>
      <span class="mono hint">{hint}…</span>
    </span>
  )
}

function NewToken({ path, reload }: ListProps) {
  const [name, setName] = useState('')
  const [created, setCreated] = useState<CreatedToken | null>(null)
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    setCreated(await callServer<CreatedToken>(path, { method: 'POST', body: { name } }))
    setName('')
    await reload()
  })
  return (
    <form onSubmit={submit}>
      <FormError error={error} />
      <div class="operator-row">
        <Field
          label="Name of a new token"
          name="name"
          value={name}
          onValue={setName}
          error={fieldError(error, 'name')}
          input={{ required: true, maxLength: 100, autoComplete: 'off' }}
        />
        <Button type="submit" isBusy={isBusy}>
          Create the token
        </Button>
      </div>
      {created !== null && <TokenSecretDialog created={created} onClose={() => setCreated(null)} />}
    </form>
  )
}
