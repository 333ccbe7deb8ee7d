/** One endpoint: parameters, response, errors, example, and trying it. */

import { Badge } from '../../parts/card.tsx'
import { CodeBlock, CodeVariants } from '../../parts/code-block.tsx'
import { Disclosure } from '../../parts/disclosure.tsx'
import { Table } from '../../parts/table.tsx'
import { snippetsOf } from '../explorer/data/snippets.ts'
import { exampleCall } from './example-call.ts'
import { type ReferenceEntry, type ResponseObject, typeText } from './openapi.ts'
import { Prose } from './prose.tsx'
import { SchemaFields } from './schema-view.tsx'
import { TryIt } from './try-it.tsx'

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
