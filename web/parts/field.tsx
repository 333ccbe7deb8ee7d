/** Fields of forms: label, hint and error text belong to the input. */

import type { InputHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'

type FieldProps = {
  label: string
  name: string
  value: string
  onValue: (value: string) => void
  hint?: string
  error?: string | null
  input?: InputHTMLAttributes<HTMLInputElement>
}

export function Field({ label, name, value, onValue, hint, error = null, input = {} }: FieldProps) {
  const id = useId()
  const described = [hint !== undefined && `${id}-hint`, error !== null && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type="text"
        {...input}
        id={id}
        name={name}
        value={value}
        aria-invalid={error !== null}
        aria-describedby={described === '' ? undefined : described}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== null && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

type SelectProps = {
  label: string
  value: string
  onValue: (value: string) => void
  options: readonly (readonly [value: string, text: string])[]
}

export function Select({ label, value, onValue, options }: SelectProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
