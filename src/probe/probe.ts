/** The probe of one domain: queries seven DNS types at once, then requests the web, and returns the probe result. */

import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { Resolver } from './dns/resolver.ts'
import { addressesInAnswer } from './host-addresses.ts'
import type { DnsAnswer, DnsProbeResult, ProbeResult, WebProbeResult } from './probe-result.ts'
import type { WebProbeInput, WebProber } from './web.ts'

export type Prober = {
  /**
   * `granted`: addresses at which the rate limit already grants the probe. Never rejects because of the network, and
   * ends after `timeoutMs` at the latest.
   */
  probe(domain: DomainName, granted?: readonly IpAddress[]): Promise<ProbeResult>
  close(): Promise<void>
}

/** Milliseconds for a whole probe. Unanswered parts are left out. The resolver normally gives up long before. */
export const PROBE_TIMEOUT_MS = 60_000

type ProberOptions = { resolver: Resolver; web: WebProber; now: () => Instant; timeoutMs?: number }

/**
 * Takes ownership of the resolver and the web prober: `close` closes both. `now`: the time of a probe result.
 * `timeoutMs`: the limit per probe.
 */
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
      let deferredAt: IpAddress | null = null
      const onDeferred = (address: IpAddress): void => {
        deferredAt = address
      }
      const probeWeb: WebProbe = (known) =>
        Promise.race([web.probe(domain, { ...known, granted, onDeferred }), timeout.timedOut])
      try {
        const dns = await resolveAllTypes(resolver, domain, timeout.timedOut)
        const webResult = await probeWebIfResolved(dns, probeWeb)
        return { domain, at, dns, web: webResult, ...(deferredAt === null ? {} : { deferredAt }) }
      } finally {
        timeout.end()
      }
    },
    async close() {
      await Promise.all([web.close(), resolver.close()])
    },
  }
}

/** Returns null if no type could be queried. Omits types without an answer in time. */
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
 * Returns null if the name does not exist, its servers fail, or its addresses are unknown. They are unknown if A or
 * AAAA was not answered and the other has none.
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
