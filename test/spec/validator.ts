/** Validates responses against the OpenAPI document that the server itself serves. */

import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'

type Media = { schema: object }
type Operation = { responses: Record<string, { content?: Record<string, Media> }> }
type Document = { paths: Record<string, Record<string, Operation>> }

/** Throws if the response to a documented path and method does not have the documented format. */
export function validator(document: unknown): (path: string, method: string, status: number, body: unknown) => void {
  const { paths } = document as Document
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajvFormats.default(ajv)
  return (path, method, status, body) => {
    const operation = pathItem(paths, path.split('?', 1)[0]!)?.[method.toLowerCase()]
    if (operation === undefined) return
    const schema = operation.responses[status]?.content?.['application/json']?.schema
    assert.ok(schema, `${method} ${path} answers ${status}, which the document does not have`)
    assert.ok(ajv.validate(schema, body), `${method} ${path} ${status}: ${ajv.errorsText()}`)
  }
}

/** The item of a path, or of the template that it matches. */
function pathItem(paths: Document['paths'], path: string): Record<string, Operation> | undefined {
  const [, templated] =
    Object.entries(paths).find(
      ([template]) => template.includes('{') && new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    ) ?? []
  return paths[path] ?? templated
}
