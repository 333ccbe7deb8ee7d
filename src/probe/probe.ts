/** The crawl of one domain: the seven types asked at once, then the web; what came back is the visit. */

import { RECORD_TYPES, type RecordType } from '../values/dns-record.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Instant } from '../values/time.ts'
import type { Resolver } from './dns/resolver.ts'
import { addressesInAnswer } from './host-addresses.ts'
import type { DnsAnswer, DnsProbeResult, ProbeResult, WebProbeResult } from './probe-result.ts'
import type { WebProbeInput, WebProber } from './web.ts'

export type Prober = {
  /**
   * `turns`: addresses where it has its turn already (pace.ts). Never rejects for what the internet does, and is over after
   * `milliseconds` at the latest.
   */
  probe(domain: DomainName, granted?: readonly IpAddress[]): Promise<ProbeResult>
  close(): Promise<void>
}

/** Milliseconds of a whole visit; what is not answered by then is left out, as the resolver gives up long before. */
export const PROBE_TIMEOUT_MS = 60_000

type ProberOptions = { resolver: Resolver; web: WebProber; now: () => Instant; timeoutMs?: number }

/** Takes the resolver and the web over: `close` closes both. `now` is the time that visits carry; `milliseconds` bounds each. */
export function createProber({
  resolver,
  web,
  now,
  timeoutMs: milliseconds = PROBE_TIMEOUT_MS,
}: ProberOptions): Prober {
  return {
    async probe(domain, granted = []) {
      const at = now()
      const timeout = startDeadline(milliseconds)
      let held: IpAddress | null = null
      const onDeferred = (address: IpAddress): void => {
        held = address
      }
      const probeWeb: WebProbe = (known) =>
        Promise.race([web.probe(domain, { ...known, granted, onDeferred }), timeout.timedOut])
      try {
        const dns = await resolveAllTypes(resolver, domain, timeout.timedOut)
        const webResult = await probeWebIfResolved(dns, probeWeb)
        return { domain, at, dns, web: webResult, ...(held === null ? {} : { deferredAt: held }) }
      } finally {
        timeout.end()
      }
    },
    async close() {
      await Promise.all([web.close(), resolver.close()])
    },
  }
}

/** Null where the resolver could not be asked for a single type. Types that are not asked in time are left out. */
async function resolveAllTypes(
  resolver: Resolver,
  domain: DomainName,
  timedOut: Promise<null>,
): Promise<DnsProbeResult | null> {
  const queries = RECORD_TYPES.map(
    async (type): Promise<[RecordType, DnsAnswer | null]> => [
      type,
      await Promise.race([resolver.resolve(domain, type), timedOut]),
    ],
  )
  const answered = (await Promise.all(queries)).filter(([, answer]) => answer !== null)
  return answered.length === 0 ? null : Object.fromEntries(answered)
}

type WebProbe = (known: WebProbeInput) => Promise<WebProbeResult | null>

/**
 * Null where the name does not exist or its servers fail, and where nobody knows whether it has an address: A or AAAA was
 * not answered, and the other one has none.
 */
async function probeWebIfResolved(dns: DnsProbeResult | null, probeWeb: WebProbe): Promise<WebProbeResult | null> {
  const families = [dns?.A, dns?.AAAA]
  const addresses = families.flatMap(addressesInAnswer)
  if (addresses.length === 0 && families.some((answer) => answer?.outcome !== 'records')) return null
  return probeWeb({ addresses, isIncomplete: families.includes(undefined) })
}

function startDeadline(milliseconds: number): { timedOut: Promise<null>; end(): void } {
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null)
  })
  return { timedOut, end: () => clearTimeout(timer) }
}
