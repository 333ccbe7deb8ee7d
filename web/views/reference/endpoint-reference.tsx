/** One endpoint: parameters, response, errors, example, and trying it. */

import { useState } from 'preact/hooks'
import { type CallError, callServer } from '../../client/http.ts'
import { endpointPath } from '../../client/paths.ts'
import { signInAddress } from '../../client/router.ts'
import { accountOf, session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import { Button } from '../../parts/button.tsx'
import { Badge } from '../../parts/card.tsx'
import { CodeBlock, CodeVariants } from '../../parts/code-block.tsx'
import { Disclosure } from '../../parts/disclosure.tsx'
import { Field } from '../../parts/field.tsx'
import { announce } from '../../parts/live-region.tsx'
import { Table } from '../../parts/table.tsx'
import { type ApiCall, snippetsOf } from '../explorer/data/snippets.ts'
import { objectOf, type Parameter, type ReferenceEntry, type ResponseObject, type Schema, typeText } from './openapi.ts'

/** Endpoints whose response is a file; the page has links to those. */
const FILE_ENDPOINTS = ['daily']

/** Longer responses are cut, because the page only shows them. */
const MAX_SHOWN_CHARACTERS = 20_000

type SchemaFieldProps = { name: string; field: Schema; isRequired: boolean }

export function EndpointReference({ entry }: { entry: ReferenceEntry }) {
  const { id, path, methods, operation, parameters } = entry
  const call = exampleCall(entry)
  return (
    <section class="card endpoint" id={id} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        {methods.map((method) => (
          <Badge key={method} tone="accent">
            {method.toUpperCase()}
          </Badge>
        ))}{' '}
        <span class="mono wrap">{path}</span>
      </h3>
      <p class="endpoint-summary">{operation.summary}.</p>
      {operation.description !== undefined && (
        <p>
          <Prose text={operation.description.replace(' The token is sent in the body.', '')} />
        </p>
      )}
      {parameters.length > 0 && <Parameters entry={entry} />}
      {call !== null && <CodeVariants variants={snippetsOf(window.location.origin, call)} />}
      <Success response={operation.responses['200'] ?? operation.responses['201']} id={id} />
      <Errors responses={operation.responses} />
      <TryIt entry={entry} />
    </section>
  )
}

function Parameters({ entry: { id, parameters } }: { entry: ReferenceEntry }) {
  return (
    <Table
      caption={`Parameters of ${id}`}
      keyOf={({ name }) => name}
      rows={parameters}
      columns={[
        { name: 'Parameter', cell: ({ name }) => <code class="field-name">{name}</code> },
        {
          name: 'Type',
          cell: ({ schema, required }) => (
            <span class="hint">
              {typeText(schema)}
              {required ? '' : ', optional'}
            </span>
          ),
        },
        { name: 'Meaning', cell: ({ description }) => <Prose text={description ?? ''} /> },
      ]}
    />
  )
}

function Success({ response, id }: { response: ResponseObject | undefined; id: string }) {
  const media = response?.content?.['application/json']
  const schema = media?.schema
  if (media === undefined || schema === undefined) return null
  return (
    <>
      {media.example !== undefined && (
        <div class="example">
          <h4>Example response</h4>
          <CodeBlock code={JSON.stringify(media.example, null, 2)} what={`the example response of ${id}`} />
        </div>
      )}
      <Disclosure summary="Fields of the response">{() => <SchemaFields schema={schema} />}</Disclosure>
    </>
  )
}

function Errors({ responses }: { responses: Record<string, ResponseObject> }) {
  const errors = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { description }]) => errorsIn(status, description))
  if (errors.length === 0) return null
  return (
    <Disclosure summary="Errors">
      {() => (
        <Table
          caption="Errors"
          keyOf={({ key }) => key}
          rows={errors}
          columns={[
            { name: 'Error', cell: ({ key }) => <code>{key}</code> },
            { name: 'Status', cell: ({ status }) => status },
            { name: 'Message', cell: ({ text }) => text },
          ]}
        />
      )}
    </Disclosure>
  )
}

/** The errors in a description of the form "`key`: Message. `key`: Message." */
function errorsIn(status: string, description: string): { key: string; status: string; text: string }[] {
  const found = [...description.matchAll(/`([a-z_]+)`: (.*?)(?= `[a-z_]+`: |$)/g)]
  if (found.length === 0) return [{ key: status, status, text: description }]
  return found.map(([, key, text]) => ({ key: key!, status, text: text! }))
}

/** The fields of a schema, with those of the objects inside it. */
function SchemaFields({ schema }: { schema: Schema }) {
  const object = objectOf(schema)
  if (object === null) return <p class="hint">{typeText(schema)}</p>
  return (
    <ul class="schema">
      {Object.entries(object.properties ?? {}).map(([name, field]) => (
        <SchemaField key={name} name={name} field={field} isRequired={object.required?.includes(name) ?? false} />
      ))}
    </ul>
  )
}

function SchemaField({ name, field, isRequired }: SchemaFieldProps) {
  const inner = objectOf(field)
  const values = field.enum ?? field.items?.enum
  return (
    <li>
      <div class="schema-line">
        <code class="field-name">{name}</code>
        <span class="hint">
          {typeText(field)}
          {!isRequired && ', may be missing'}
        </span>
      </div>
      {field.description !== undefined && (
        <p>
          <Prose text={field.description} />
        </p>
      )}
      {values !== undefined && (
        <p class="hint">
          One of{' '}
          {values.map((value, index) => (
            <span key={String(value)}>
              {index > 0 && ', '}
              <code>{String(value)}</code>
            </span>
          ))}
        </p>
      )}
      {inner !== null && <SchemaFields schema={inner} />}
    </li>
  )
}

/** Tries an endpoint through the session: a form of its parameters, and the response as text. */
function TryIt({ entry }: { entry: ReferenceEntry }) {
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

/** Null if a program would not make this call with a token. */
function exampleCall({ path, parameters, operation, methods }: ReferenceEntry): ApiCall | null {
  if (path.startsWith('/v1.0/')) {
    const sent = parameters.filter(({ required, name }) => required && name !== 'token')
    return { path, parameters: Object.fromEntries(sent.map((each) => [each.name, exampleOf(each)])) }
  }
  const usesBearer = operation.security?.some((each) => 'bearer' in each) ?? false
  if (!usesBearer || methods[0] !== 'get') return null
  const filled = path.replace(/\{(\w+)\}/g, (whole, name) => {
    const parameter = parameters.find((each) => each.name === name)
    return parameter === undefined ? whole : exampleOf(parameter)
  })
  return { path: filled, parameters: null }
}

/** An example value of a parameter as text. */
function exampleOf({ schema, name }: Parameter): string {
  return String(schema.examples?.[0] ?? schema.enum?.[0] ?? schema.default ?? name.toUpperCase())
}

/** A text of the OpenAPI document: what stands in backticks is code. */
export function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
}
