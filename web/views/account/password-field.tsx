/** A field for a password: the current one, or a new one with a hint. */

import type { CallError } from '../../client/http.ts'
import { Field } from '../../parts/field.tsx'
import { fieldError } from './form.ts'

type PasswordFieldProps = {
  label: string
  /** The name of the field in the request. */
  name: string
  value: string
  onValue: (value: string) => void
  error: CallError | null
  isNew?: boolean
}

export function PasswordField({ error, isNew = false, ...rest }: PasswordFieldProps) {
  return (
    <Field
      {...rest}
      {...(isNew && { hint: 'At least 12 characters. A sentence is easy to remember.' })}
      error={fieldError(error, rest.name)}
      input={{ type: 'password', autoComplete: isNew ? 'new-password' : 'current-password', required: true }}
    />
  )
}
