/** /search: the known names that contain a text, or match a pattern or a regular expression. */

import { useState } from 'preact/hooks'
import { profilePath, searchPath } from '../../../client/paths.ts'
import { navigate, pageAddress } from '../../../client/router.ts'
import { useSignal } from '../../../client/signal.ts'
import { Button } from '../../../parts/button.tsx'
import { Disclosure } from '../../../parts/disclosure.tsx'
import { Field, Select } from '../../../parts/field.tsx'
import { EmptyState } from '../../../parts/notice.tsx'
import { Table } from '../../../parts/table.tsx'
import { Day } from '../../../parts/time.tsx'
import { WatchLink } from '../../watches/watch-link.tsx'
import { PagedCard } from '../data/paged-rows.tsx'
import { usePages } from '../data/pages.ts'
import type { SearchRow } from '../data/responses.ts'

/** The filters that the form offers: parameter, label, hint and what the input is. */
const FILTERS = [
  ['tld', 'Below the suffix', 'Such as co.uk.', {}],
  ['first_seen_from', 'First seen from', 'A day in UTC.', { type: 'date' }],
  ['first_seen_to', 'First seen to', 'The end of a day in UTC.', { type: 'date' }],
  ['registered_from', 'Registered from', 'A day.', { type: 'date' }],
  ['registered_to', 'Registered to', 'A day.', { type: 'date' }],
  ['ip', 'On the address or network', 'Such as 192.0.2.0/24.', {}],
  ['ns', 'With the name server', 'Or one below this name.', {}],
  ['mx', 'With the mail host', 'Or one below this name.', {}],
] as const
const WEBSITE_OPTIONS = [
  ['', 'With or without'],
  ['yes', 'With a website'],
  ['no', 'Observed without one'],
] as const
const FILTER_NAMES = [...FILTERS.map(([name]) => name), 'has_website']

export function SearchPage() {
  const { query } = useSignal(pageAddress)
  const q = query.get('q') ?? ''
  const filters = Object.fromEntries(FILTER_NAMES.map((name) => [name, query.get(name) ?? '']))
  const key = JSON.stringify([q, filters])
  return (
    <div class="stack">
      <h1>Find names</h1>
      <SearchForm key={key} q={q} filters={filters} />
      {q !== '' && <Found key={`found ${key}`} q={q} filters={filters} />}
    </div>
  )
}

type Search = { q: string; filters: Readonly<Record<string, string>> }

function SearchForm({ q, filters }: Search) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({ q, ...filters })
  const input = (name: string) => ({
    name,
    value: values[name]!,
    onValue: (value: string) => setValues({ ...values, [name]: value.trim() }),
  })
  const submit = (event: Event): void => {
    event.preventDefault()
    if (values.q !== '') navigate(searchPath(values))
  }
  const active = FILTER_NAMES.filter((name) => filters[name] !== '').length
  return (
    <form class="card stack" onSubmit={submit}>
      <Field
        {...input('q')}
        label="Text, pattern or expression"
        hint="bank, bank*, *.bank, paypa[l1]*.com, or /^(login|secure)-?bank/. At least three characters in a row are fixed."
        input={{ required: true, autoComplete: 'off', autoCapitalize: 'none', spellcheck: false }}
      />
      <Disclosure summary={active === 0 ? 'Filters' : `Filters (${active} in use)`}>
        {() => (
          <div class="form-row">
            {FILTERS.map(([name, label, hint, more]) => (
              <Field key={name} {...input(name)} label={label} hint={hint} input={more} />
            ))}
            <Select {...input('has_website')} label="Website" options={WEBSITE_OPTIONS} />
          </div>
        )}
      </Disclosure>
      <div>
        <Button kind="primary" type="submit">
          Search (1 call)
        </Button>
      </div>
    </form>
  )
}

function Found({ q, filters }: Search) {
  const asked = { q, ...filters }
  const pages = usePages<SearchRow>((next) => searchPath({ ...asked, ...(next !== null && { next }) }))
  return (
    <PagedCard
      title={`Names for ${q}`}
      about={
        <p class="card-about">
          <WatchLink kind="pattern" value={q} />
        </p>
      }
      pages={pages}
      what="names"
      empty={<EmptyState title="No known name matches" />}
      name={`search-${q}`}
      call={{ path: searchPath(asked), parameters: null }}
    >
      {(rows) => <FoundRows caption={`Names for ${q}`} rows={rows} />}
    </PagedCard>
  )
}

function FoundRows({ caption, rows }: { caption: string; rows: readonly SearchRow[] }) {
  return (
    <Table
      caption={caption}
      isDense
      keyOf={({ name }) => name}
      rows={rows}
      columns={[
        { name: 'Domain', cell: ({ name }) => <a href={profilePath(name)}>{name}</a> },
        { name: 'First seen', cell: ({ first_seen }) => (first_seen === null ? 'not yet' : <Day at={first_seen} />) },
        { name: 'DNS', cell: Dns },
        { name: 'Website', cell: WebsiteCell },
      ]}
    />
  )
}

const IP_TEXTS: Readonly<Record<string, string>> = {
  both: 'IPv4 and IPv6',
  v4only: 'IPv4',
  v6only: 'IPv6',
  noip: 'no address',
  nxdomain: 'does not exist',
  servfail: 'look-up failed',
}

function Dns({ ip, observed }: Pick<SearchRow, 'ip' | 'observed'>) {
  if (observed === null) return <span class="hint">not observed</span>
  return ip === null ? 'unknown' : (IP_TEXTS[ip] ?? ip)
}

function WebsiteCell({ has_website, redirects_to }: SearchRow) {
  if (has_website === null) return <span class="hint">not observed</span>
  if (redirects_to === null) return has_website
  return (
    <>
      redirects to <a href={profilePath(redirects_to)}>{redirects_to}</a>
    </>
  )
}
