/** /docs: the API reference, made from the OpenAPI document of this server. */

import { useEffect, useRef } from 'preact/hooks'
import { partsOf } from '../../client/address.ts'
import { useLoaded } from '../../client/loaded.ts'
import { LoadedView } from '../../parts/notice.tsx'
import { EndpointReference, Prose } from './endpoint-reference.tsx'
import { entriesOf, type OpenApiDocument, type ReferenceEntry } from './openapi.ts'

/** The entries that are complete at once: more than a window shows. */
const FIRST_ENTRIES = 3
/** A frame of the screen. A slow browser needs seconds for all entries, and can be used meanwhile. */
const MS_PER_ENTRY = 16

/** Whether the reference was left. Who comes back, by the history of the browser, finds it where it was. */
let wasLeft = false

/** /docs, or /docs/ID with the ID of an entry to show first. */
export function ReferenceArea({ path }: { path: string }) {
  const { loaded, retry } = useLoaded<OpenApiDocument>('/openapi.json')
  return (
    <LoadedView loaded={loaded} what="the API reference" onRetry={retry}>
      {(document) => (
        <ReferenceDocument document={document} first={partsOf(path).subject || window.location.hash.slice(1)} />
      )}
    </LoadedView>
  )
}

function ReferenceDocument({ document: api, first }: { document: OpenApiDocument; first: string }) {
  const isAtOnce = useRef(wasLeft)
  useEffect(
    () => () => {
      wasLeft = true
    },
    [],
  )
  useEffect(() => {
    if (first !== '') document.getElementById(first)?.scrollIntoView()
  }, [first])
  const entries = entriesOf(api)
  const groups = api.tags
    .map((tag) => ({ ...tag, entries: entries.filter(({ operation }) => operation.tags[0] === tag.name) }))
    .filter((group) => group.entries.length > 0)
  if (first !== '') isAtOnce.current = true
  let place = 0
  const nextDelay = (): number => (isAtOnce.current ? 0 : Math.max(0, ++place - FIRST_ENTRIES) * MS_PER_ENTRY)
  return (
    <div class="reference">
      <nav class="reference-nav" aria-label="Endpoints">
        {groups.map((group) => (
          <ReferenceGroupLinks key={group.name} name={group.name} entries={group.entries} />
        ))}
      </nav>
      <div class="stack">
        <Introduction api={api} />
        {groups.map((group) => (
          <section key={group.name} class="stack" aria-label={group.name}>
            <h2 class="reference-group">{group.description.replace(/\.$/, '')}</h2>
            {group.entries.map((entry) => (
              <EndpointReference key={entry.id} entry={entry} delayMs={nextDelay()} />
            ))}
          </section>
        ))}
      </div>
    </div>
  )
}

function Introduction({ api: { info } }: { api: OpenApiDocument }) {
  return (
    <header class="stack reference-head">
      <h1>API reference</h1>
      <p class="lead">
        <Prose text={info.description} />
      </p>
      <p>
        Send the token of <a href="/account/tokens">your account</a> as <code>token</code> under <code>/v1.0/</code>,
        and as <code>Authorization: Bearer TOKEN</code> elsewhere. A call is charged if it is answered with 200, or with
        404 <code>no_data</code>. The same for programs:{' '}
        <a href="/openapi.json" data-external>
          openapi.json
        </a>
        .
      </p>
    </header>
  )
}

function ReferenceGroupLinks({ name, entries }: { name: string; entries: readonly ReferenceEntry[] }) {
  return (
    <div>
      <p class="hint">{name}</p>
      <ul>
        {entries.map(({ id, path, methods }) => (
          <li key={id}>
            <a href={`#${id}`}>
              {methods.length === 1 && methods[0] !== 'get' && <span class="method">{methods[0]} </span>}
              {path.replace('/v1.0', '')}
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}
