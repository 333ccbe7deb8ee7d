/** /domain/NAME/certificates: the certificates that a domain presented, newest first, and those with its name. */

import { useState } from 'preact/hooks'
import { certificatePath, certificatesPath, namedCertificatesPath } from '../../../client/paths.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { EmptyState } from '../../../parts/notice.tsx'
import { Table } from '../../../parts/table.tsx'
import { Day } from '../../../parts/time.tsx'
import { PagedCard, SEEN_COLUMNS } from '../data/paged-rows.tsx'
import { usePages } from '../data/pages.ts'
import type { CertificateRow, NamingRow } from '../data/responses.ts'

/** The digits of a SHA-256 that a link shows. */
const SHOWN_DIGITS = 12

export function Certificates({ name }: { name: string }) {
  const pages = usePages<CertificateRow>((cursor) => certificatesPath(name, cursor))
  return (
    <div class="stack">
      <PagedCard
        title="Certificates presented"
        pages={pages}
        what="certificates"
        empty={<EmptyState title="It presented no certificate that is on record" />}
        name={`${name}-certificates`}
        call={{ path: certificatesPath(name, null), parameters: null }}
      >
        {(all) => <PresentedRows name={name} rows={all} />}
      </PagedCard>
      <NamedIn name={name} />
    </div>
  )
}

function CertificateLink({ sha256 }: { sha256: string }) {
  return (
    <a class="mono" href={certificatePath(sha256)} title={sha256}>
      {sha256.slice(0, SHOWN_DIGITS)}…
    </a>
  )
}

function PresentedRows({ name, rows }: { name: string; rows: readonly CertificateRow[] }) {
  return (
    <Table
      caption={`Certificates that ${name} presented`}
      isDense
      stacks
      keyOf={({ first_seen }) => first_seen}
      rows={rows}
      columns={[
        { name: 'Certificate', cell: ({ sha256 }) => <CertificateLink sha256={sha256} /> },
        { name: 'Issuer', cell: ({ issuer }) => <span class="wrap">{issuer}</span> },
        { name: 'Valid from', cell: ({ not_before }) => <Day at={not_before} /> },
        { name: 'Valid until', cell: ({ not_after }) => <Day at={not_after} /> },
        ...SEEN_COLUMNS,
      ]}
    />
  )
}

/** The certificates with the name, its wildcard or a name below it. Loading them costs a call of its own. */
function NamedIn({ name }: { name: string }) {
  const [isOpen, setIsOpen] = useState(false)
  if (isOpen) return <LoadedNamedIn name={name} />
  return (
    <Card title="In the names of certificates">
      <p class="hint">Every known certificate that names it, its wildcard or a host below it, whoever presented it.</p>
      <Button onClick={() => setIsOpen(true)}>Show certificates (1 call)</Button>
    </Card>
  )
}

function LoadedNamedIn({ name }: { name: string }) {
  const pages = usePages<NamingRow>((cursor) => namedCertificatesPath(name, cursor))
  return (
    <PagedCard
      title="In the names of certificates"
      pages={pages}
      what="certificates that name it"
      empty={<EmptyState title="No known certificate has it in its names" />}
      name={`${name}-named-certificates`}
      call={{ path: namedCertificatesPath(name, null), parameters: null }}
    >
      {(all) => <NamingRows rows={all} />}
    </PagedCard>
  )
}

function NamingRows({ rows }: { rows: readonly NamingRow[] }) {
  return (
    <Table
      caption="Certificates with the domain in their names"
      isDense
      stacks
      keyOf={(row) => `${row.sha256} ${row.name}`}
      rows={rows}
      columns={[
        { name: 'Certificate', cell: ({ sha256 }) => <CertificateLink sha256={sha256} /> },
        { name: 'Name in it', cell: (row) => <span class="wrap">{row.name}</span> },
        { name: 'Issuer', cell: ({ issuer }) => <span class="wrap">{issuer}</span> },
        { name: 'Valid from', cell: ({ not_before }) => <Day at={not_before} /> },
        { name: 'Valid until', cell: ({ not_after }) => <Day at={not_after} /> },
      ]}
    />
  )
}
