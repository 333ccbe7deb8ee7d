/** Asks for a new password, and sends it with the code of a link. */

import { useState } from 'preact/hooks'
import { callServer } from '../../../client/http.ts'
import { navigate } from '../../../client/router.ts'
import { acceptSession, type SessionState } from '../../../client/session.ts'
import { Button } from '../../../parts/button.tsx'
import { ErrorBox } from '../../../parts/notice.tsx'
import { useForm } from '../form.ts'
import { PasswordField } from '../password-field.tsx'

/** `path`: where the code and the password go. `next`: the page after it. */
export function NewPasswordForm({ code, path, next }: { code: string; path: string; next: string }) {
  const [password, setPassword] = useState('')
  const { error, isBusy, run } = useForm()
  const submit = (event: Event): void => {
    event.preventDefault()
    void run(async () => {
      acceptSession(await callServer<SessionState>(path, { method: 'POST', body: { code, password } }))
      navigate(next, { replace: true })
    })
  }
  return (
    <form class="card form" onSubmit={submit}>
      {error !== null && error.field === null && <ErrorBox error={error} />}
      <PasswordField label="New password" name="password" value={password} onValue={setPassword} error={error} isNew />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        Set the password
      </Button>
    </form>
  )
}
