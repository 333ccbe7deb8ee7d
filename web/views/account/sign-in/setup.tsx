/** /setup: creates the first operator with the one-time link that the server prints on its terminal. */

import { useState } from 'preact/hooks'
import { callServer } from '../../../client/http.ts'
import { navigate, pageAddress } from '../../../client/router.ts'
import { acceptSession, type SessionState } from '../../../client/session.ts'
import { useSignal } from '../../../client/signal.ts'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { ErrorBox } from '../../../parts/notice.tsx'
import { fieldError, useForm } from '../form.ts'
import { PasswordField } from '../password-field.tsx'
import { EMAIL_INPUT } from './sign-in-form.tsx'
import { codeOf, SignInFrame } from './sign-in-frame.tsx'

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
  const { error, isBusy, run } = useForm()
  const submit = (event: Event): void => {
    event.preventDefault()
    void run(async () => {
      const body = { code, email, password }
      acceptSession(await callServer<SessionState>('/app/setup', { method: 'POST', body }))
      navigate('/', { replace: true })
    })
  }
  return (
    <form class="card form" onSubmit={submit}>
      <p class="hint">You become the operator: your account has every right and no limit.</p>
      {error !== null && error.field === null && <ErrorBox error={error} />}
      <Field
        label="Email address"
        name="email"
        value={email}
        onValue={setEmail}
        input={EMAIL_INPUT}
        error={fieldError(error, 'email')}
      />
      <PasswordField label="Password" name="password" value={password} onValue={setPassword} error={error} isNew />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        Create the operator
      </Button>
    </form>
  )
}
