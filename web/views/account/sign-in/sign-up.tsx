/** /sign-up: creates an account. The address is verified by a mail. */

import { useState } from 'preact/hooks'
import { CallError, callServer } from '../../../client/http.ts'
import { session } from '../../../client/session.ts'
import { useSignal } from '../../../client/signal.ts'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { ErrorBox } from '../../../parts/notice.tsx'
import { fieldError, useForm } from '../form.ts'
import { EMAIL_INPUT } from './sign-in-form.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

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
  const { error, isBusy, run } = useForm()
  const submit = (event: Event): void => {
    event.preventDefault()
    void run(async () => {
      await callServer('/app/sign-up', { method: 'POST', body: { email } })
      onSent(email)
    })
  }
  return (
    <SignInFrame title="Create an account">
      <form class="card form" onSubmit={submit}>
        {error !== null && error.field === null && <ErrorBox error={error} />}
        <Field
          label="Email address"
          name="email"
          value={email}
          onValue={setEmail}
          input={EMAIL_INPUT}
          error={fieldError(error, 'email')}
        />
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
