/** A field for a password: the current one, or a new one with a hint. */

import type { CallError } from '../../client/http.ts'
import { Field } from '../../parts/field.tsx'
import { fieldError } from './form.ts'

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
