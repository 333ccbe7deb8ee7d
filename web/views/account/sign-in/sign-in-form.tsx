/** The form of email address and password. */

import { useState } from 'preact/hooks'
import { callServer } from '../../../client/http.ts'
import { acceptSession, type SessionState } from '../../../client/session.ts'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { ErrorBox } from '../../../parts/notice.tsx'
import { useForm } from '../form.ts'
import { PasswordField } from '../password-field.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

export const EMAIL_INPUT = { type: 'email', autoComplete: 'username', required: true, spellcheck: false } as const

export function SignInForm({ canSignUp }: { canSignUp: boolean }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { error, isBusy, run } = useForm()
  const submit = (event: Event): void => {
    event.preventDefault()
    void run(async () =>
      acceptSession(await callServer<SessionState>('/app/sign-in', { method: 'POST', body: { email, password } })),
    )
  }
  return (
    <SignInFrame title="Sign in">
      <form class="card form" onSubmit={submit}>
        {error !== null && <ErrorBox error={error} />}
        <Field label="Email address" name="email" value={email} onValue={setEmail} input={EMAIL_INPUT} />
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
