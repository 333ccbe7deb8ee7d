/** /docs: the API reference, made from the OpenAPI document of this server. */

import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { partsOf } from '../../client/address.ts'
import { useLoaded } from '../../client/loaded.ts'
import { pageAddress } from '../../client/router.ts'
import { useSignal } from '../../client/signal.ts'
import { LoadedView } from '../../parts/notice.tsx'
import { EndpointReference, Prose } from './endpoint-reference.tsx'
import { entriesOf, type OpenApiDocument, type ReferenceEntry } from './openapi.ts'

/** How many entries are shown first. One fills most windows. */
const FIRST_ENTRIES = 1
/** Milliseconds between two further entries. A slow browser needs seconds for all of them, and can be used meanwhile. */
const MS_PER_ENTRY = 16

/** Whether the reference was left. Who comes back, by the history of the browser, finds it where it was. */
let wasLeft = false

/** /docs, or /docs/ID with the ID of an entry to show first. */
export function ReferenceArea({ path }: { path: string }) {
  const { loaded, retry } = useLoaded<OpenApiDocument>('/openapi.json')
  return (
    <LoadedView loaded={loaded} what="the API reference" onRetry={retry}>
      {(document) => <ReferenceDocument document={document} subject={partsOf(path).subject} />}
    </LoadedView>
  )
}

function ReferenceDocument({ document: api, subject }: { document: OpenApiDocument; subject: string }) {
  const { links, groups, count } = useMemo(() => viewsOf(api), [api])
  const { hash } = useSignal(pageAddress)
  const shown = useShownEntries(count, wasLeft || subject !== '' || hash !== '')
  useEffect(
    () => () => {
      wasLeft = true
    },
    [],
  )
  useEffect(() => scrollToEntry(subject), [subject])
  useEffect(() => scrollToEntry(hash), [hash])
  return (
    <div class="reference">
      {(shown > FIRST_ENTRIES || shown === count) && (
        <nav class="reference-nav" aria-label="Endpoints">
          {links}
        </nav>
      )}
      <div class="stack reference-entries" aria-busy={shown < count}>
        <Introduction api={api} />
        {groups.map(
          ({ name, title, from, entries }) =>
            from < shown && (
              <section key={name} class="stack" aria-label={name}>
                <h2 class="reference-group">{title}</h2>
                {entries.slice(0, shown - from)}
              </section>
            ),
        )}
      </div>
    </div>
  )
}

/** `from`: the number of entries before those of the group. */
type GroupView = { name: string; title: string; from: number; entries: VNode[] }

/** The parts of the reference. They stay the same, so that Preact renders each once. */
function viewsOf(api: OpenApiDocument): { links: VNode[]; groups: GroupView[]; count: number } {
  const all = entriesOf(api)
  const links: VNode[] = []
  const groups: GroupView[] = []
  let count = 0
  for (const { name, description } of api.tags) {
    const entries = all.filter(({ operation }) => operation.tags[0] === name)
    if (entries.length === 0) continue
    links.push(<ReferenceGroupLinks key={name} name={name} entries={entries} />)
    const views = entries.map((entry) => <EndpointReference key={entry.id} entry={entry} />)
    groups.push({ name, title: description.replace(/\.$/, ''), from: count, entries: views })
    count += entries.length
  }
  return { links, groups, count }
}

function scrollToEntry(id: string): void {
  if (id !== '') document.getElementById(id)?.scrollIntoView()
}

/** How many entries are shown: FIRST_ENTRIES, then one more each MS_PER_ENTRY. `isAtOnce`: all. */
function useShownEntries(count: number, isAtOnce: boolean): number {
  const [shown, setShown] = useState(FIRST_ENTRIES)
  useEffect(() => {
    const isHidden = document.hidden // browsers delay the timers of hidden pages
    if (isAtOnce || isHidden) setShown(count)
    else if (shown < count) {
      const timer = setTimeout(setShown, MS_PER_ENTRY, shown + 1)
      return () => clearTimeout(timer)
    }
    return undefined
  }, [shown, count, isAtOnce])
  return isAtOnce ? count : shown
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
