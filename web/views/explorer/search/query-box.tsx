/** The search box: one field for a domain or an address. */

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { parsePastedQuery } from '../../../../src/values/pasted-query.ts'
import { navigate } from '../../../client/router.ts'
import { Button } from '../../../parts/button.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { announce } from '../../../parts/live-region.tsx'
import { explorerAddress } from '../data/responses.ts'

const NOT_A_QUERY = 'Enter a domain such as example.com, or an IP address. A URL or an email address works too.'

type QueryBoxProps = { value?: string; isLarge?: boolean }

export function QueryBox({ value = '', isLarge = false }: QueryBoxProps) {
  const { text, setText, error, submit, input } = useQuery(value)
  const id = useId()
  return (
    <search>
      <form class={`query-box${isLarge ? ' large' : ''}`} onSubmit={submit} noValidate>
        <label class="hidden" for={id}>
          Domain or IP address
        </label>
        <Icon name="search" />
        <input
          {...QUERY_INPUT}
          ref={input}
          id={id}
          value={text}
          placeholder={isLarge ? 'example.com, 192.0.2.1, hxxps://exa[.]mple' : 'Domain or address'}
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
    const query = parsePastedQuery(text)
    setError(query === null ? NOT_A_QUERY : null)
    if (query === null) return void input.current?.focus()
    announce(`Looking up ${query.value}.`)
    navigate(explorerAddress(query))
  }
  return { text, setText, error, submit, input }
}
