/** /certificate/SHA256: what a certificate says, its names, and the domains that presented it. */

import { MAX_CERTIFICATE_NAMES, parseFingerprint } from '../../../../src/values/certificate/fingerprint.ts'
import { certificatePath, profilePath } from '../../../client/paths.ts'
import { Card, Facts } from '../../../parts/card.tsx'
import { EmptyState } from '../../../parts/notice.tsx'
import { Table } from '../../../parts/table.tsx'
import { formatCount } from '../../../parts/text/numbers.ts'
import { Day } from '../../../parts/time.tsx'
import { PagedCard, SEEN_COLUMNS } from '../data/paged-rows.tsx'
import { usePages } from '../data/pages.ts'
import type { Certificate, PresenterRow } from '../data/responses.ts'

export function CertificatePage({ sha256 }: { sha256: string }) {
  const isValid = parseFingerprint(sha256) !== null
  return (
    <>
      <header class="subject">
        <h1 class="subject-name">{sha256}</h1>
        {isValid ? (
          <p class="hint">SHA-256 of a certificate</p>
        ) : (
          <p class="field-error" role="alert">
            This is not the SHA-256 of a certificate: enter its 64 hex digits, with or without colons between the bytes.
          </p>
        )}
      </header>
      {isValid && <CertificateCards sha256={sha256} />}
    </>
  )
}

function CertificateCards({ sha256 }: { sha256: string }) {
  const pages = usePages<PresenterRow>((cursor) => certificatePath(sha256, cursor))
  const { first } = pages
  return (
    <div class="stack">
      {first?.certificate !== undefined && <Details certificate={first.certificate} />}
      <PagedCard
        title="Presented by"
        pages={pages}
        what="who presented it"
        empty={<EmptyState title="No domain presented it" />}
        name={`certificate-${sha256}`}
        call={{ path: certificatePath(sha256), parameters: null }}
      >
        {(all) => <PresenterRows rows={all} />}
      </PagedCard>
    </div>
  )
}

type DetailsProps = { certificate: Certificate & { logged: string | null } }

function Details({ certificate: { issuer, not_before, not_after, key, names, logged } }: DetailsProps) {
  const isCapped = names.length >= MAX_CERTIFICATE_NAMES
  return (
    <>
      <Card title="Certificate">
        <Facts
          rows={[
            [
              'Issuer',
              <span key="issuer" class="wrap">
                {issuer === '' ? 'empty' : issuer}
              </span>,
            ],
            ['Valid from', <Day key="from" at={not_before} withTime />],
            ['Valid until', <Day key="until" at={not_after} withTime />],
            ['Key', key],
            ...(logged === null ? [] : [['Logged', <Day key="logged" at={logged} withTime />] as const]),
          ]}
        />
      </Card>
      <Card title="Names in it" aside={isCapped ? `first ${formatCount(names.length)}` : formatCount(names.length)}>
        {isCapped && (
          <p class="hint">
            Only the first {formatCount(names.length)} names are stored: the certificate may have more.
          </p>
        )}
        {names.length === 0 ? (
          <EmptyState title="It has no domain name" />
        ) : (
          <ul class="name-list">
            {names.map((name) => (
              <li key={name}>{name.startsWith('*.') ? name : <a href={profilePath(name)}>{name}</a>}</li>
            ))}
          </ul>
        )}
      </Card>
    </>
  )
}

function PresenterRows({ rows }: { rows: readonly PresenterRow[] }) {
  return (
    <Table
      caption="Domains that presented the certificate"
      isDense
      keyOf={({ target, first_seen }) => `${target} ${first_seen}`}
      rows={rows}
      columns={[{ name: 'Domain', cell: ({ target }) => <a href={profilePath(target)}>{target}</a> }, ...SEEN_COLUMNS]}
    />
  )
}
