/** Tries an endpoint through the session: a form of its parameters, and the response as text. */

import { useState } from 'preact/hooks'
import { type CallError, callServer } from '../../client/http.ts'
import { signInAddress } from '../../client/router.ts'
import { accountOf, session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import { Button } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Disclosure } from '../../parts/disclosure.tsx'
import { Field } from '../../parts/field.tsx'
import { announce } from '../../parts/live-region.tsx'
import { endpointPath } from '../explorer/data/responses.ts'
import { exampleOf } from './example-call.ts'
import type { ReferenceEntry } from './openapi.ts'

/** Endpoints whose response is a file; the page has links to those. */
const FILE_ENDPOINTS = ['daily']
/** Longer responses are cut, because the page only shows them. */
const MAX_SHOWN_CHARACTERS = 20_000

export function TryIt({ entry }: { entry: ReferenceEntry }) {
  const account = accountOf(useSignal(session))
  const isProfile = entry.path === '/domain/{name}' || entry.path === '/ip/{address}'
  const isQuery = entry.path.startsWith('/v1.0/') && !FILE_ENDPOINTS.includes(entry.id)
  if (!isProfile && !isQuery) return null
  return (
    <Disclosure summary="Try it (1 call)">
      {() =>
        account === null ? (
          <p>
            <a href={signInAddress()}>Sign in</a> to try it with your account.
          </p>
        ) : (
          <TryForm entry={entry} />
        )
      }
    </Disclosure>
  )
}

function TryForm({ entry }: { entry: ReferenceEntry }) {
  const fields = entry.parameters.filter(({ name }) => name !== 'token' && name !== 'download')
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(fields.filter(({ required }) => required).map((each) => [each.name, exampleOf(each)])),
  )
  const [answer, setAnswer] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    setIsBusy(true)
    setAnswer(await answerOf(requestPath(entry, values)))
    setIsBusy(false)
    announce('The response is there.')
  }
  return (
    <form class="form" onSubmit={(event) => void send(event)}>
      <div class="try-fields">
        {fields.map(({ name }) => (
          <Field
            key={name}
            label={name}
            name={name}
            value={values[name] ?? ''}
            onValue={(value) => setValues({ ...values, [name]: value })}
            input={{ autoComplete: 'off', spellcheck: false }}
          />
        ))}
      </div>
      <div class="form-row">
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Send
        </Button>
        <span class="hint">1 call of your account</span>
      </div>
      {answer !== null && <CodeBlock code={answer} what={`the response of ${entry.id}`} />}
    </form>
  )
}

function requestPath({ id, path }: ReferenceEntry, values: Record<string, string>): string {
  if (path.startsWith('/v1.0/')) {
    return endpointPath(id, Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')))
  }
  return path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? '').replaceAll('%3A', ':'))
}

async function answerOf(path: string): Promise<string> {
  try {
    const text = JSON.stringify(await callServer(path), null, 2)
    return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS)}\n…`
  } catch (error) {
    const { status, key, message } = error as CallError
    return `${status} ${key}\n${message}`
  }
}
