/** /reset: asks for a link by mail, and sets a new password with the code of that link. */

import { useState } from 'preact/hooks'
import { callServer } from '../../../client/http.ts'
import { pageAddress } from '../../../client/router.ts'
import { useSignal } from '../../../client/signal.ts'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { ErrorBox } from '../../../parts/notice.tsx'
import { useForm } from '../form.ts'
import { NewPasswordForm } from './new-password-form.tsx'
import { EMAIL_INPUT } from './sign-in-form.tsx'
import { codeOf, SignInFrame } from './sign-in-frame.tsx'

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
  const { error, isBusy, run } = useForm()
  const submit = (event: Event): void => {
    event.preventDefault()
    void run(async () => {
      await callServer('/app/password/forgot', { method: 'POST', body: { email } })
      setIsSent(true)
    })
  }
  if (isSent) return <p>If {email} has an account, a mail with a link is on its way. The link works for an hour.</p>
  return (
    <form class="card form" onSubmit={submit}>
      {error !== null && <ErrorBox error={error} />}
      <Field label="Email address" name="email" value={email} onValue={setEmail} input={EMAIL_INPUT} />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        Send a link
      </Button>
    </form>
  )
}
