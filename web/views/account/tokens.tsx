/** /account/tokens: the tokens of the account, and what can be done with each. */

import { useState } from 'preact/hooks'
import { useFresh } from '../../client/loaded.ts'
import { Button } from '../../parts/button.tsx'
import { Badge, Card } from '../../parts/card.tsx'
import { Icon } from '../../parts/icons.tsx'
import { EmptyState, LoadedView } from '../../parts/notice.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { Table } from '../../parts/table.tsx'
import { Ago, Day, parseInstant } from '../../parts/time.tsx'
import type { ListedToken } from './token.ts'
import { CreateDialog, RevokeDialog, RotateDialog, type TokenDialogProps } from './token-dialogs.tsx'

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
        {
          name: 'Last used',
          cell: ({ last_used: at }) => (at === null ? <span class="hint">never</span> : <Ago at={at} />),
        },
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
