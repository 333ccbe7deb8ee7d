/** Forms: the state of one that is sent, its errors, the field for a password, and dialogs with a form. */

import type { ComponentChildren } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { CallError } from '../../client/http.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { ErrorBox } from '../../parts/notice.tsx'

type FormState = {
  error: CallError | null
  isBusy: boolean
  /** Runs an action. Resolves to whether it succeeded. */
  run: (action: () => Promise<void>) => Promise<boolean>
  /** The handler of the event submit that runs an action. */
  onSubmit: (action: () => Promise<void>) => (event: Event) => void
}

const NEW_PASSWORD_HINT = 'At least 12 characters. A sentence is easy to remember.'

type PasswordFieldProps = {
  label: string
  /** The name of the field in the request. */
  name: string
  value: string
  onValue: (value: string) => void
  error: CallError | null
  isNew?: boolean
  /** It may stay empty, because the account may have no password yet. */
  isOptional?: boolean
}

export function PasswordField({ error, isNew = false, isOptional = false, ...rest }: PasswordFieldProps) {
  const hint = isNew ? NEW_PASSWORD_HINT : isOptional ? 'Leave it empty if the account has none yet.' : undefined
  return (
    <Field
      {...rest}
      {...(hint !== undefined && { hint })}
      error={fieldError(error, rest.name)}
      input={{ type: 'password', autoComplete: isNew ? 'new-password' : 'current-password', required: !isOptional }}
    />
  )
}

type CreationDialogProps = {
  title: string
  error: CallError | null
  isBusy: boolean
  onSubmit: (event: Event) => void
  onClose: () => void
  /** The fields. */
  children: ComponentChildren
}

/** A dialog with a form that creates something. */
export function CreationDialog({ title, error, isBusy, onSubmit, onClose, children }: CreationDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="form" onSubmit={onSubmit}>
        <FormError error={error} />
        {children}
        <div class="form-row">
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Create
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The state of a form: whether it is being sent, and the error of the last attempt. */
export function useForm(): FormState {
  const [error, setError] = useState<CallError | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const run = useCallback(async (action: () => Promise<void>): Promise<boolean> => {
    setIsBusy(true)
    setError(null)
    try {
      await action()
      return true
    } catch (thrown) {
      if (!(thrown instanceof CallError)) throw thrown
      setError(thrown)
      return false
    } finally {
      setIsBusy(false)
    }
  }, [])
  const onSubmit = (action: () => Promise<void>) => (event: Event) => {
    event.preventDefault()
    void run(action)
  }
  return { error, isBusy, run, onSubmit }
}

/** The error of a form that is not about one of its fields. */
export function FormError({ error }: { error: CallError | null }) {
  return error === null || error.field !== null ? null : <ErrorBox error={error} />
}

/** The error text of one field. */
export function fieldError(error: CallError | null, field: string): string | null {
  return error?.field === field ? error.message : null
}
