/** /domain/NAME: what a domain is like now, and how old each part of that is. */

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { keepBody, useLoaded } from '../../client/loaded.ts'
import { profilePath } from '../../client/paths.ts'
import { navigate } from '../../client/router.ts'
import { Badge, Card, Facts, type Tone } from '../../parts/card.tsx'
import { EmptyState, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { formatCount } from '../../parts/text/numbers.ts'
import { AgoOrNever, Day } from '../../parts/time.tsx'
import { DataTools } from './data/data-tools.tsx'
import { type Characteristics, type DomainProfileBody, RECORD_TYPES } from './data/responses.ts'
import { recordText } from './history/history-data.ts'
import { DateForm } from './past/date-form.tsx'
import { AddressLink, RecordList } from './records.tsx'

const RESOLUTION: Record<string, readonly [tone: Tone, text: string]> = {
  both: ['good', 'IPv4 and IPv6'],
  v4only: ['good', 'IPv4 only'],
  v6only: ['good', 'IPv6 only'],
  noip: ['warn', 'No address'],
  servfail: ['bad', 'Name servers fail'],
  nxdomain: ['bad', 'Not in the zone'],
}

const CERTIFICATE: Record<string, readonly [tone: Tone, text: string]> = {
  valid: ['good', 'Valid'],
  invalid: ['bad', 'Not valid'],
  nocert: ['plain', 'None presented'],
}

const NEVER_OBSERVED = ['plain', 'Never observed'] as const

export function Overview({ name }: { name: string }) {
  const { loaded, retry } = useLoaded<DomainProfileBody>(profilePath(name))
  return (
    <LoadedView loaded={loaded} what={`what is known about ${name}`} onRetry={retry}>
      {(profile) => <Profile profile={profile} />}
    </LoadedView>
  )
}

function Profile({ profile }: { profile: DomainProfileBody }) {
  const { name, requested } = profile
  useEffect(() => {
    if (requested === null) return
    keepBody(profilePath(name), profile)
    navigate(profilePath(name), { replace: true })
  }, [name, requested, profile])
  return (
    <>
      {requested !== null && (
        <p class="hint" role="status">
          Nothing is on record for {requested}: these are the facts about {name}.
        </p>
      )}
      <div class="overview">
        <div class="stack">
          <WebsiteFacts profile={profile} />
          <CurrentRecords profile={profile} />
        </div>
        <div class="stack">
          <Card title="Related">
            <Related profile={profile} />
          </Card>
          <AddressList profile={profile} />
          <Accounts profile={profile} />
          <Observed observed={profile.observed} />
          <Card title="Another day">
            <DateForm path={profilePath(name)} />
          </Card>
        </div>
      </div>
      <DataTools
        name={name}
        call={{ path: profilePath(name), parameters: null }}
        json={profile}
        rows={() => recordRows(profile)}
      />
    </>
  )
}

function Observed({ observed }: Pick<DomainProfileBody, 'observed'>) {
  return (
    <Card title="Observed">
      <Facts
        rows={[
          ['DNS', <AgoOrNever key="dns" at={observed.dns} />],
          ['Website', <AgoOrNever key="web" at={observed.web} />],
        ]}
      />
    </Card>
  )
}

/** One row for each current record. */
function recordRows({ records }: DomainProfileBody) {
  return RECORD_TYPES.flatMap((type) =>
    (records[type]?.records ?? []).map((record) => ({
      type,
      record: recordText(type, record),
      since: records[type]?.since ?? '',
    })),
  )
}

function Related({ profile: { name, lookup } }: { profile: DomainProfileBody }) {
  const link = (view: string, text: ComponentChildren) => <a href={`${profilePath(name)}/${view}`}>{text}</a>
  return (
    <Facts
      rows={[
        ['Neighbours on its addresses', link('neighbours', formatCount(Number(lookup.reverse_ip_count)))],
        ['Domains that redirect here', link('redirects', formatCount(Number(lookup.redirect_count)))],
      ]}
    />
  )
}

function AddressList({ profile }: { profile: DomainProfileBody }) {
  const { name, lookup, addresses, address_count: count } = profile
  const aside = count > addresses.length ? `${addresses.length} of ${formatCount(count)}` : undefined
  return (
    <Card title="Addresses" aside={aside}>
      {lookup.ip === null ? (
        <EmptyState title="Never observed">The addresses of {name} were never looked up.</EmptyState>
      ) : lookup.ip === 'servfail' && addresses.length === 0 ? (
        <EmptyState title="Not known">The last look-up of {name} failed.</EmptyState>
      ) : addresses.length === 0 ? (
        <EmptyState title="No address">{name} has no A or AAAA record now.</EmptyState>
      ) : (
        <Table
          caption={`Addresses of ${name}`}
          keyOf={({ ip }) => ip}
          rows={addresses}
          columns={[
            { name: 'Address', cell: ({ ip }) => <AddressLink ip={ip} /> },
            { name: 'Since', cell: ({ since }) => <Day at={since} /> },
            { name: 'Neighbours', isNumber: true, cell: ({ neighbours }) => formatCount(neighbours) },
          ]}
        />
      )}
    </Card>
  )
}

function Accounts({ profile: { lookup } }: { profile: DomainProfileBody }) {
  const { social_accounts: accounts } = lookup
  return (
    <Card title="Accounts">
      {accounts === null ? (
        <EmptyState title="Never observed">The start page of this domain was never read.</EmptyState>
      ) : accounts.length === 0 ? (
        <EmptyState title="No account">The start page links to no account in a social network.</EmptyState>
      ) : (
        <ul class="accounts">
          {accounts.map(({ url, type, username }) => (
            <li key={url}>
              <span class="account-type">{type.replaceAll('_', ' ')}</span>
              <AccountUrl url={url} username={username} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

/** A URL of a crawled page. Only http and https become links. */
function AccountUrl({ url, username }: { url: string; username: string }) {
  if (!/^https?:\/\//i.test(url)) return <span>{username}</span>
  return (
    <a href={url} rel="noopener noreferrer nofollow" data-external>
      {username}
    </a>
  )
}

/** The current records of all types, or the last ones of a name that is gone, with the time since when they are. */
function CurrentRecords({ profile }: { profile: DomainProfileBody }) {
  return (
    <Card
      title={profile.former_records === null ? 'DNS records' : 'Last DNS records, gone now'}
      aside={<a href={`/domain/${encodeURIComponent(profile.name)}/history`}>History</a>}
    >
      <RecordList name={profile.name} records={profile.former_records ?? profile.records} />
    </Card>
  )
}

/** One sentence and the facts about website, redirects and certificate. */
function WebsiteFacts({ profile }: { profile: DomainProfileBody }) {
  const { lookup, redirects_to: target } = profile
  const isCurrent = lookup.ip !== 'nxdomain' && lookup.ip !== 'servfail'
  const isWebObserved = lookup.has_website !== null
  const noTarget = isWebObserved ? 'No other domain' : <Status entry={NEVER_OBSERVED} />
  return (
    <Card title="Right now" className="right-now">
      <p class="summary">{summaryOf(profile)}</p>
      {!isCurrent && <p class="hint">Website, certificate and records describe an earlier state, not today.</p>}
      <Facts
        rows={[
          ['Resolves', <Status key="ip" entry={RESOLUTION[lookup.ip ?? ''] ?? NEVER_OBSERVED} />],
          ['Website', <YesNo key="web" value={lookup.has_website} />],
          ['Certificate', <Status key="ssl" entry={CERTIFICATE[lookup.ssl ?? ''] ?? NEVER_OBSERVED} />],
          ['Redirects to', target === null ? noTarget : <DomainLink key="to" name={target.target} />],
          ['http to https', <YesNo key="https" value={lookup.redirect_to_https} />],
          [
            'To www',
            lookup.only_with_www === 'yes' ? 'Only with www' : <YesNo key="www" value={lookup.redirect_to_www} />,
          ],
        ]}
      />
    </Card>
  )
}

function Status({ entry: [tone, text] }: { entry: readonly [tone: Tone, text: string] }) {
  return <Badge tone={tone}>{text}</Badge>
}

function YesNo({ value }: { value: string | null }) {
  if (value === null) return <Status entry={NEVER_OBSERVED} />
  return <Badge tone={value === 'yes' ? 'good' : 'plain'}>{value === 'yes' ? 'Yes' : 'No'}</Badge>
}

function DomainLink({ name }: { name: string }) {
  return <a href={profilePath(name)}>{name}</a>
}

/** One sentence that says what the domain is like. */
function summaryOf({ name, lookup, redirects_to: target, address_count: count }: DomainProfileBody): ComponentChildren {
  const subject = <strong>{name}</strong>
  const addressCount = count === 1 ? 'an address' : `${count} addresses`
  if (lookup.ip === 'nxdomain') return <>{subject} is not in its zone now.</>
  if (lookup.ip === 'servfail') return <>The name servers of {subject} do not answer.</>
  if (target !== null)
    return (
      <>
        {subject} redirects to <DomainLink name={target.target} />.
      </>
    )
  if (lookup.has_website === 'yes')
    return (
      <>
        {subject} has a website {certificateClause(lookup)}.
      </>
    )
  if (lookup.only_dns_no_web === 'yes') return <>{subject} has DNS records but no address, so it has no website.</>
  if (lookup.has_website === null && count > 0)
    return (
      <>
        {subject} has {addressCount}. Its website was never observed.
      </>
    )
  if (lookup.has_website === null) return <>{subject} is known, and its website was never observed.</>
  if (count > 0)
    return (
      <>
        {subject} has {addressCount}, but no website answers.
      </>
    )
  return <>{subject} is known, and nothing answers under it.</>
}

function certificateClause({ ssl }: Characteristics): string {
  if (ssl === 'valid') return 'with a valid certificate'
  return ssl === 'invalid' ? 'whose certificate is not valid' : 'without a certificate'
}
