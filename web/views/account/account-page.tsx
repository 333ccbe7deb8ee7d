/** /account: who is signed in, the password, and the sessions of the account. */

import { useState } from 'preact/hooks'
import { type CallError, callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { navigate } from '../../client/router.ts'
import { acceptSession, accountOf, session, signOut } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import { Button } from '../../parts/button.tsx'
import { Badge, Card, Facts } from '../../parts/card.tsx'
import { announce } from '../../parts/live-region.tsx'
import { ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { Ago, Day } from '../../parts/time.tsx'
import { forgetRecentQueries } from '../explorer/search/recent.ts'
import { FormError, PasswordField, useForm } from './form.tsx'

export function AccountPage() {
  return (
    <div class="overview even">
      <div class="stack">
        <Identity />
        <Sessions />
      </div>
      <PasswordForm />
    </div>
  )
}

function Identity() {
  const account = accountOf(useSignal(session))
  const { error, isBusy, run } = useForm()
  const leave = (): void =>
    void run(async () => {
      await signOut()
      forgetRecentQueries()
      navigate('/')
    })
  if (account === null) return null
  return (
    <Card title="Signed in">
      {error !== null && <ErrorBox error={error} />}
      <Facts
        rows={[
          ['Email address', account.email],
          [
            'Plan',
            <a key="plan" href="/account/files">
              {account.plan}
            </a>,
          ],
        ]}
      />
      <p class="card-actions">
        <Button onClick={leave} isBusy={isBusy}>
          Sign out
        </Button>
      </p>
    </Card>
  )
}

type ListedSession = {
  id: number | string
  created: string
  last_used: string
  expires: string
  browser: string
  address: string
  current: boolean
}

function Sessions() {
  const { loaded, reload } = useFresh<{ sessions: ListedSession[] }>('/app/sessions')
  return (
    <Card title="Sessions">
      <LoadedView loaded={loaded} what="your sessions" onRetry={() => void reload()}>
        {({ sessions }) => <SessionTable sessions={sessions} reload={reload} />}
      </LoadedView>
    </Card>
  )
}

function SessionTable({ sessions, reload }: { sessions: ListedSession[]; reload: () => Promise<void> }) {
  const { error, isBusy, run } = useForm()
  const end = (path: string): void =>
    void run(async () => {
      await callServer(path, { method: 'DELETE' })
      announce('Ended.')
      await reload()
    })
  return (
    <>
      {error !== null && <ErrorBox error={error} />}
      <Table
        caption="Browsers that are signed in"
        stacks
        keyOf={({ id }) => id}
        rows={sessions}
        columns={[
          { name: 'Browser', cell: ({ browser, current }) => <SessionName browser={browser} isCurrent={current} /> },
          { name: 'Address', cell: ({ address }) => <span class="mono wrap">{address}</span> },
          { name: 'Last used', cell: ({ last_used: at }) => <Ago at={at} /> },
          { name: 'Ends', cell: ({ expires }) => <Day at={expires} /> },
          {
            name: 'Action',
            isHidden: true,
            cell: ({ id, current }) =>
              !current && <EndButton isBusy={isBusy} onEnd={() => end(`/app/sessions/${id}`)} />,
          },
        ]}
      />
      {sessions.length > 1 && (
        <p class="card-actions">
          <Button kind="danger" isBusy={isBusy} onClick={() => end('/app/sessions')}>
            End all others
          </Button>
        </p>
      )}
    </>
  )
}

function EndButton({ isBusy, onEnd }: { isBusy: boolean; onEnd: () => void }) {
  return (
    <Button kind="quiet" isSmall isBusy={isBusy} onClick={onEnd}>
      End
    </Button>
  )
}

function SessionName({ browser, isCurrent }: { browser: string; isCurrent: boolean }) {
  return (
    <>
      {browser === '' ? 'Unknown browser' : browser} {isCurrent && <Badge tone="accent">this one</Badge>}
    </>
  )
}

function PasswordForm() {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [isDone, setIsDone] = useState(false)
  const { error, isBusy, run } = useForm()
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setIsDone(false)
    const done = await run(() => changePassword({ current, password }))
    setIsDone(done)
    if (!done) return
    setCurrent('')
    setPassword('')
  }
  return (
    <Card title="Change the password">
      <form class="form" onSubmit={(event) => void submit(event)}>
        <FormError error={error} />
        {isDone && (
          <p class="note" role="status">
            The password is changed, and all other sessions have ended.
          </p>
        )}
        <BothPasswords
          current={current}
          onCurrent={setCurrent}
          password={password}
          onPassword={setPassword}
          error={error}
        />
        <Button type="submit" isBusy={isBusy}>
          Change the password
        </Button>
      </form>
    </Card>
  )
}

type BothPasswordsProps = {
  current: string
  onCurrent: (text: string) => void
  password: string
  onPassword: (text: string) => void
  error: CallError | null
}

function BothPasswords({ current, onCurrent, password, onPassword, error }: BothPasswordsProps) {
  const shared = { error }
  return (
    <>
      <PasswordField
        {...shared}
        label="Current password"
        name="current"
        value={current}
        onValue={onCurrent}
        isOptional
      />
      <PasswordField {...shared} label="New password" name="password" value={password} onValue={onPassword} isNew />
    </>
  )
}

/** Ends all sessions of the account. The browser gets a new one. */
async function changePassword(body: { current: string; password: string }): Promise<void> {
  acceptSession(await callServer('/app/password', { method: 'POST', body }))
}
