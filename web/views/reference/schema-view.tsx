/** The fields of a schema, with those of the objects inside it. */

import { objectOf, type Schema, typeText } from './openapi.ts'
import { Prose } from './prose.tsx'

export function SchemaFields({ schema }: { schema: Schema }) {
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

type SchemaFieldProps = { name: string; field: Schema; isRequired: boolean }

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
