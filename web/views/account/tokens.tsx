/** /account/tokens: the tokens of the account, and what can be done with each. */

import { useState } from 'preact/hooks'
import { callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { Button } from '../../parts/button.tsx'
import { Badge, Card } from '../../parts/card.tsx'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Icon } from '../../parts/icons.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { Table } from '../../parts/table.tsx'
import { formatCount } from '../../parts/text/numbers.ts'
import { parseInstant } from '../../parts/text/times.ts'
import { AgoOrNever, Day } from '../../parts/time.tsx'
import { CreationDialog, fieldError, useForm } from './form.tsx'

export type ListedToken = {
  id: number
  name: string
  hint: string
  created: string
  last_used: string | null
  expires: string | null
  revoked: string | null
  /** Calls today. */
  today: number
}

type TokenDialogProps = { onChanged: () => void; onClose: () => void }

export type CreatedToken = { token: ListedToken; secret: string }

const LIFETIMES = [
  ['', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const
const DAY_MS = 86_400_000

const GRACES = [
  ['0', 'At once'],
  ['1', 'In an hour'],
  ['24', 'In a day'],
  ['168', 'In a week'],
] as const

type OpenDialog = { kind: 'create' } | { kind: 'rotate' | 'revoke'; token: ListedToken }

export function TokensPage() {
  const { loaded, reload } = useFresh<{ tokens: ListedToken[] }>('/app/tokens')
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const dialogProps: TokenDialogProps = { onChanged: () => void reload(), onClose: () => setDialog(null) }
  return (
    <Card
      title="Tokens"
      aside={
        <Button kind="primary" isSmall onClick={() => setDialog({ kind: 'create' })}>
          <Icon name="plus" /> Create a token
        </Button>
      }
    >
      <LoadedView loaded={loaded} what="your tokens" onRetry={() => void reload()}>
        {({ tokens }) => <TokenList tokens={tokens} onOpen={setDialog} />}
      </LoadedView>
      {dialog?.kind === 'create' && <CreateDialog {...dialogProps} />}
      {dialog?.kind === 'rotate' && <RotateDialog token={dialog.token} {...dialogProps} />}
      {dialog?.kind === 'revoke' && <RevokeDialog token={dialog.token} {...dialogProps} />}
    </Card>
  )
}

type TokenListProps = { tokens: ListedToken[]; onOpen: (dialog: OpenDialog) => void }

function TokenList({ tokens, onOpen }: TokenListProps) {
  if (tokens.length === 0)
    return <EmptyState title="No token yet">A program signs its calls with a token. Create one to start.</EmptyState>
  return (
    <Table
      caption="Tokens of this account"
      stacks
      keyOf={({ id }) => id}
      rows={tokens}
      columns={[
        { name: 'Name', cell: (token) => <TokenName token={token} /> },
        { name: 'Created', cell: ({ created }) => <Day at={created} /> },
        { name: 'Last used', cell: ({ last_used: at }) => <AgoOrNever at={at} /> },
        {
          name: 'Expires',
          cell: ({ expires }) => (expires === null ? <span class="hint">never</span> : <Day at={expires} />),
        },
        { name: 'Calls today', isNumber: true, cell: ({ today }) => formatCount(today) },
        { name: 'Actions', isHidden: true, cell: (token) => <TokenActions token={token} onOpen={onOpen} /> },
      ]}
    />
  )
}

function isEnded({ revoked, expires }: ListedToken): boolean {
  return revoked !== null || (expires !== null && parseInstant(expires).getTime() <= Date.now())
}

function TokenName({ token }: { token: ListedToken }) {
  return (
    <span class="token-name">
      <span>
        <strong>{token.name}</strong> {token.revoked !== null && <Badge tone="bad">revoked</Badge>}
        {token.revoked === null && isEnded(token) && <Badge tone="warn">expired</Badge>}
      </span>
      <span class="mono hint">{token.hint}…</span>
    </span>
  )
}

function TokenActions({ token, onOpen }: { token: ListedToken; onOpen: TokenListProps['onOpen'] }) {
  if (isEnded(token)) return null
  return (
    <span class="row-actions">
      <Button kind="quiet" isSmall label={`Rotate ${token.name}`} onClick={() => onOpen({ kind: 'rotate', token })}>
        Rotate
      </Button>
      <Button kind="quiet" isSmall label={`Revoke ${token.name}`} onClick={() => onOpen({ kind: 'revoke', token })}>
        Revoke
      </Button>
    </span>
  )
}

/** The instant in so many days, in the form of the API; null for an empty text. */
function expiryOf(days: string): string | null {
  return days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The dialogs that create, rotate and revoke a token. A new token is shown once. */
function CreateDialog({ onChanged, onClose }: TokenDialogProps) {
  const [name, setName] = useState('')
  const [days, setDays] = useState('')
  const [created, setCreated] = useState<CreatedToken | null>(null)
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    setCreated(await callServer('/app/tokens', { method: 'POST', body: { name, expires: expiryOf(days) } }))
    onChanged()
  })
  if (created !== null) return <TokenSecretDialog created={created} onClose={onClose} />
  return (
    <CreationDialog title="Create a token" error={error} isBusy={isBusy} onSubmit={submit} onClose={onClose}>
      <Field
        label="Name"
        name="name"
        value={name}
        onValue={setName}
        hint="What uses it, for example: nightly report."
        error={fieldError(error, 'name')}
        input={{ required: true, maxLength: 100, autoComplete: 'off' }}
      />
      <Select label="Expires" value={days} onValue={setDays} options={LIFETIMES} />
    </CreationDialog>
  )
}

export function TokenSecretDialog({
  created: { secret, token },
  onClose,
}: {
  created: CreatedToken
  onClose: () => void
}) {
  const { origin } = window.location
  const line = `curl ${origin}/v1.0/lookup -d '{"token":"${secret}","query":"example.com"}'`
  return (
    <SecretDialog title={`The token “${token.name}”`} secret={secret} what="the token" onClose={onClose}>
      <p>Try it:</p>
      <CodeBlock code={line} what="the curl line" />
    </SecretDialog>
  )
}

function RotateDialog({ token, onChanged, onClose }: TokenDialogProps & { token: ListedToken }) {
  const [hours, setHours] = useState('24')
  const [created, setCreated] = useState<CreatedToken | null>(null)
  const { error, isBusy, run } = useForm()
  const rotate = (): void =>
    void run(async () => {
      const body = { grace_hours: Number(hours) }
      setCreated(await callServer(`/app/tokens/${token.id}/rotate`, { method: 'POST', body }))
      onChanged()
    })
  if (created !== null) return <TokenSecretDialog created={created} onClose={onClose} />
  return (
    <Dialog title={`Rotate “${token.name}”`} onClose={onClose}>
      <div class="form">
        {error !== null && <ErrorBox error={error} />}
        <p>A new token replaces this one. Both work until the old one ends, so that you can exchange them calmly.</p>
        <Select label="The old token ends" value={hours} onValue={setHours} options={GRACES} />
        <div class="form-row">
          <Button kind="primary" onClick={rotate} isBusy={isBusy}>
            Rotate
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  )
}

function RevokeDialog({ token, onChanged, onClose }: TokenDialogProps & { token: ListedToken }) {
  const { error, isBusy, run } = useForm()
  const revoke = (): void =>
    void run(async () => {
      await callServer(`/app/tokens/${token.id}`, { method: 'DELETE' })
      announce(`${token.name} is revoked.`)
      onChanged()
      onClose()
    })
  return (
    <Dialog title={`Revoke “${token.name}”?`} onClose={onClose}>
      <div class="form">
        {error !== null && <ErrorBox error={error} />}
        <p>Programs that use it get 401 within a second. This cannot be undone.</p>
        <div class="form-row">
          <Button kind="danger" onClick={revoke} isBusy={isBusy}>
            Revoke the token
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  )
}
