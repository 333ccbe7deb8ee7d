/** The card at the top of the overview: one sentence and the facts about website, redirects and certificate. */

import type { ComponentChildren } from 'preact'
import { Badge, Card, Facts, type Tone } from '../../parts/card.tsx'
import { type Characteristics, type DomainProfileBody, profilePath } from './data/responses.ts'

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

export function WebsiteFacts({ profile }: { profile: DomainProfileBody }) {
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
