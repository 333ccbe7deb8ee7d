/** The pages of the explorer: domains, addresses and networks, certificates, and searches. */

import { networkOf, partsOf } from '../../client/address.ts'
import { AddressPage } from './address.tsx'
import { DomainPage } from './domain.tsx'
import { CertificatePage } from './past/certificate.tsx'
import { SearchPage } from './search/search-page.tsx'

export function ExplorerArea({ path }: { path: string }) {
  const parts = partsOf(path)
  const { section, subject, view } = parts
  if (section === 'search') return <SearchPage />
  if (section === 'certificate') return <CertificatePage key={subject} sha256={subject} />
  if (section === 'domain') return <DomainPage key={subject} name={subject} view={view} />
  const addresses = networkOf(parts)
  return <AddressPage key={addresses} address={addresses} />
}
