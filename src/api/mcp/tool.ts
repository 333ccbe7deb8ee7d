/** The form of a tool of the MCP server, and what it asks. */

import { type JsonSchema, type ObjectSchema, Type } from '../endpoints/schema.ts'

/** The response of an endpoint. `body`: its JSON. */
export type SourceResponse = { status: number; body: Record<string, unknown> }

/** What answers the tools: the endpoints of a server or of the local store, for one account. */
export type ToolSource = {
  /** Asks an endpoint, or runs an operation on watches, which have the status 200 too. */
  ask(endpoint: string, parameters: Record<string, unknown>): Promise<SourceResponse>
  /** The names registered on a day as gzip, or the response that refuses them. */
  openDaily(date: string): Promise<AsyncIterable<Uint8Array> | SourceResponse>
}

/** The arguments of a call, not checked yet. */
export type ToolArguments = Readonly<Record<string, unknown>>

/** The result of a call: an object that fits the output schema, or the response that refuses it. */
type ToolOutcome = { result: Record<string, unknown> } | { refused: SourceResponse }

/** A question that an investigator asks. */
export type Tool = {
  name: string
  title: string
  description: string
  input: ObjectSchema
  output: ObjectSchema
  /** What a call changes; missing: nothing. */
  changes?: 'adds' | 'removes'
  call(source: ToolSource, values: ToolArguments): Promise<ToolOutcome>
}

/** A tool that asks one endpoint. `endpoint` and `parameters` come from the arguments. */
export type QueryTool = Omit<Tool, 'call' | 'output'> & {
  endpoint: string | ((values: ToolArguments) => string)
  /** Whether the query is an address or a network. */
  isNetwork?: boolean
  /** Null: the tool has no `limit`. */
  limits: RowLimits | null
  /** The properties of the result besides `next` and `notes`. */
  properties: Record<string, JsonSchema>
  /** Reads them from the body. */
  read(body: Record<string, never>): Record<string, unknown>
}

/** The default and the maximum of the argument `limit`. */
type RowLimits = { fallback: number; max: number }

export function limitSchema(fallback: number, max: number): JsonSchema {
  return Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: max,
      default: fallback,
      description: `The maximum number of rows, ${max} at most.`,
    }),
  )
}

/** The number of rows in the argument `limit`. */
export function wantedRows({ limit }: ToolArguments, { fallback, max }: RowLimits): number {
  return Math.min(typeof limit === 'number' && limit >= 1 ? Math.floor(limit) : fallback, max)
}

/** The schema of a result. */
export function resultSchema(properties: Record<string, JsonSchema>): ObjectSchema {
  return Type.Object({
    ...properties,
    next: Type.Union([Type.String(), Type.Null()], { description: 'For the next call; null at the end.' }),
    notes: Type.Array(Type.String(), { description: 'What this result leaves out.' }),
  })
}
