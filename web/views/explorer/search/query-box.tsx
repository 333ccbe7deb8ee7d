/** The search box: one field for a domain, an address or a part of a name. */

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { navigate } from '../../../client/router.ts'
import { Button } from '../../../parts/button.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { announce } from '../../../parts/live-region.tsx'
import { addressOfText } from './pasted-address.ts'

const NOT_A_QUERY =
  'Enter a domain such as example.com, an IP address or network, or a part of a name such as bank*. A URL or an email address works too.'

type QueryBoxProps = { value?: string; isLarge?: boolean }

export function QueryBox({ value = '', isLarge = false }: QueryBoxProps) {
  const { text, setText, error, submit, input } = useQuery(value)
  const id = useId()
  return (
    <search>
      <form class={`query-box${isLarge ? ' large' : ''}`} onSubmit={submit} noValidate>
        <label class="hidden" for={id}>
          Domain, IP address or search
        </label>
        <Icon name="search" />
        <input
          {...QUERY_INPUT}
          ref={input}
          id={id}
          value={text}
          placeholder={isLarge ? 'example.com, 192.0.2.1, bank*, hxxps://exa[.]mple' : 'Domain, address or bank*'}
          aria-invalid={error !== null}
          aria-describedby={error === null ? undefined : `${id}-error`}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {isLarge && (
          <Button kind="primary" type="submit">
            Look up
          </Button>
        )}
        {error !== null && (
          <p class="field-error" id={`${id}-error`} role="alert">
            {error}
          </p>
        )}
      </form>
    </search>
  )
}

const QUERY_INPUT = {
  name: 'query',
  autoComplete: 'off',
  autoCapitalize: 'none',
  spellcheck: false,
  enterkeyhint: 'search',
} as const

/** The text in the box, and what happens when it is sent. */
function useQuery(value: string) {
  const [text, setText] = useState(value)
  const [error, setError] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => setText(value), [value])
  const submit = (event: Event): void => {
    event.preventDefault()
    const address = addressOfText(text)
    setError(address === null ? NOT_A_QUERY : null)
    if (address === null) input.current?.focus()
    else {
      announce(`Looking up ${text.trim()}.`)
      navigate(address)
    }
  }
  return { text, setText, error, submit, input }
}
