/** The forms before a session: to sign in, to sign up, to set up the installation, and to set a password. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { CallError, callServer } from '../../client/http.ts'
import { navigate, pageAddress } from '../../client/router.ts'
import { acceptSession, session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import type { SessionState } from '../../client/started-calls.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { ErrorBox } from '../../parts/notice.tsx'
import { FormError, fieldError, PasswordField, useForm } from '../account/form.tsx'

type EmailFieldProps = { value: string; onValue: (value: string) => void; error: CallError | null }

function EmailField({ value, onValue, error }: EmailFieldProps) {
  return (
    <Field
      label="Email address"
      name="email"
      value={value}
      onValue={onValue}
      input={{ type: 'email', autoComplete: 'username', required: true, spellcheck: false }}
      error={fieldError(error, 'email')}
    />
  )
}

export function SignInForm({ canSignUp }: { canSignUp: boolean }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () =>
    acceptSession(await callServer<SessionState>('/app/sign-in', { method: 'POST', body: { email, password } })),
  )
  return (
    <SignInFrame title="Sign in">
      <form class="card form" onSubmit={submit}>
        {error !== null && <ErrorBox error={error} />}
        <EmailField value={email} onValue={setEmail} error={null} />
        <PasswordField label="Password" name="password" value={password} onValue={setPassword} error={null} />
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Sign in
        </Button>
      </form>
      <Hints canSignUp={canSignUp} />
    </SignInFrame>
  )
}

function Hints({ canSignUp }: { canSignUp: boolean }) {
  return (
    <>
      {!window.isSecureContext && (
        <p class="note">
          This address is not secure, so browsers do not keep the session. Use https, or <code>http://localhost</code>.
        </p>
      )}
      {canSignUp ? (
        <p class="hint">
          <a href="/reset">Forgotten the password?</a> No account yet? <a href="/sign-up">Create one</a>.
        </p>
      ) : (
        <p class="hint">
          The operator of this service creates accounts, and sets a password with{' '}
          <code>domaindex account password EMAIL</code>.
        </p>
      )}
    </>
  )
}

/** /sign-up: creates an account. The address is verified by a mail. */
export function SignUpPage() {
  const state = useSignal(session)
  const [sentTo, setSentTo] = useState<string | null>(null)
  if (state !== null && !(state instanceof CallError) && !state.signUp) {
    return (
      <SignInFrame title="Create an account">
        <p>Nobody can sign up here: this service sends no mails. Ask its operator for an account.</p>
      </SignInFrame>
    )
  }
  if (sentTo !== null) {
    return (
      <SignInFrame title="Check your mail">
        <p>A mail is on its way to {sentTo}. Open the link in it within a day and choose a password.</p>
      </SignInFrame>
    )
  }
  return <SignUpForm onSent={setSentTo} />
}

function SignUpForm({ onSent }: { onSent: (email: string) => void }) {
  const [email, setEmail] = useState('')
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    await callServer('/app/sign-up', { method: 'POST', body: { email } })
    onSent(email)
  })
  return (
    <SignInFrame title="Create an account">
      <form class="card form" onSubmit={submit}>
        <FormError error={error} />
        <EmailField value={email} onValue={setEmail} error={error} />
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Send me a link
        </Button>
      </form>
      <p class="hint">
        You have an account? <a href="/sign-in">Sign in</a>.
      </p>
    </SignInFrame>
  )
}

/** /setup: creates the first operator with the one-time link that the server prints on its terminal. */
export function SetupPage() {
  const code = codeOf(useSignal(pageAddress).hash)
  return (
    <SignInFrame title="Set up this installation">
      {code === null ? (
        <p>This address has no code. Start the server and open the link that it prints.</p>
      ) : (
        <SetupForm code={code} />
      )}
    </SignInFrame>
  )
}

function SetupForm({ code }: { code: string }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    const body = { code, email, password }
    acceptSession(await callServer<SessionState>('/app/setup', { method: 'POST', body }))
    navigate('/', { replace: true })
  })
  return (
    <form class="card form" onSubmit={submit}>
      <p class="hint">You become the operator: your account has every right and no limit.</p>
      <FormError error={error} />
      <EmailField value={email} onValue={setEmail} error={error} />
      <PasswordField label="Password" name="password" value={password} onValue={setPassword} error={error} isNew />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        Create the operator
      </Button>
    </form>
  )
}

/** /reset: asks for a link by mail, and sets a new password with the code of that link. */
export function ResetPage() {
  const code = codeOf(useSignal(pageAddress).hash)
  return (
    <SignInFrame title="Reset your password">
      {code === null ? <AskForm /> : <NewPasswordForm code={code} path="/app/password/reset" next="/account" />}
    </SignInFrame>
  )
}

function AskForm() {
  const [email, setEmail] = useState('')
  const [isSent, setIsSent] = useState(false)
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    await callServer('/app/password/forgot', { method: 'POST', body: { email } })
    setIsSent(true)
  })
  if (isSent) return <p>If {email} has an account, a mail with a link is on its way. The link works for an hour.</p>
  return (
    <form class="card form" onSubmit={submit}>
      {error !== null && <ErrorBox error={error} />}
      <EmailField value={email} onValue={setEmail} error={null} />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        Send a link
      </Button>
    </form>
  )
}

/** `path`: where the code and the password go. `next`: the page after it. */
export function NewPasswordForm({ code, path, next }: { code: string; path: string; next: string }) {
  const [password, setPassword] = useState('')
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    acceptSession(await callServer<SessionState>(path, { method: 'POST', body: { code, password } }))
    navigate(next, { replace: true })
  })
  return (
    <form class="card form" onSubmit={submit}>
      <FormError error={error} />
      <PasswordField label="New password" name="password" value={password} onValue={setPassword} error={error} isNew />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        Set the password
      </Button>
    </form>
  )
}

/** The frame of the pages of people without a session. */
export function SignInFrame({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="narrow stack">
      <h1>{title}</h1>
      {children}
    </div>
  )
}

/** The code in the fragment of an address, which browsers send to no server. */
export function codeOf(hash: string): string | null {
  return new URLSearchParams(hash).get('code')
}
