/** Chooses between JSON and the formats that a client can ask for by Accept (RFC 9110, section 12.5.1). */

/** The media type of lines of JSON. */
export const NDJSON_TYPE = 'application/x-ndjson'

/** The formats other than JSON. */
export type RowFormat = 'ndjson' | 'csv'

/** The media types by which a client names a format; `json` is the default. */
const MEDIA_TYPES: Readonly<Record<string, RowFormat | 'json'>> = {
  'application/json': 'json',
  [NDJSON_TYPE]: 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
}

/**
 * The format that an Accept header names with the highest weight, the first of equal ones. Null means JSON: it is the
 * default, also for types that are unknown and for wildcards.
 */
export function requestedFormat(accept: string | undefined): RowFormat | null {
  if (accept === undefined || accept === 'application/json' || accept === '*/*') return null
  let best: { format: RowFormat | 'json'; weight: number } | null = null
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const format = MEDIA_TYPES[type]
    const weight = weightOf(parameters)
    if (format !== undefined && weight > (best?.weight ?? 0)) best = { format, weight }
  }
  return best === null || best.format === 'json' ? null : best.format
}

/** The weight of a media range from 0 to 1; 1 if there is none or it is no number. */
function weightOf(parameters: readonly string[]): number {
  const parameter = parameters.find((each) => each.startsWith('q='))
  const weight = parameter === undefined ? 1 : Number(parameter.slice(2))
  return Number.isNaN(weight) ? 1 : weight
}
