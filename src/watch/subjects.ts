/** The watches of what a change is about: its addresses, hosts and certificates. Pure. */

import type { Transition } from '../apply/change.ts'
import type { SetChange } from '../inverse/entries/record-events.ts'
import type { Certificate } from '../values/certificate/certificate.ts'
import { presentedFingerprint } from '../values/certificate/presented.ts'
import type { IpAddress } from '../values/ip-address.ts'
import { finalHostOf } from '../values/web-verdict.ts'
import type { Watch } from './watch.ts'
import type { WatchIndex } from './watch-index.ts'

const NOTHING: readonly Watch[] = []

/**
 * The watches of what appeared or disappeared by a transition; those of the name are not among them. `certificates`:
 * those that the name presented.
 */
export function watchesOfTransition(
  index: WatchIndex,
  transition: Transition,
  certificates: readonly Certificate[],
): readonly Watch[] {
  switch (transition.type) {
    case 'A':
    case 'AAAA':
      return index.has('address') ? watchesOfAddresses(index, transition) : NOTHING
    case 'NS':
      return index.has('nameserver')
        ? watchesOfHosts(index, transition, 'nameserver', (each) => each as string)
        : NOTHING
    case 'MX':
      return index.has('mailserver')
        ? watchesOfHosts(index, transition, 'mailserver', (each) => (each as MxValues)[1])
        : NOTHING
    case 'verdict': {
      if (!index.has('redirect')) return NOTHING
      const { before, after } = transition
      const hosts = [before === null ? null : finalHostOf(before), finalHostOf(after)]
      return hosts[0] === hosts[1] ? NOTHING : hosts.flatMap((host) => (host ? index.ofHost('redirect', host) : []))
    }
    case 'certificate': {
      const sha256 = index.has('certificate') ? presentedFingerprint(transition.after) : null
      const presented = certificates.find((each) => each.sha256 === sha256)
      return presented === undefined ? NOTHING : watchesOfCertificate(index, presented)
    }
    default:
      return NOTHING
  }
}

function watchesOfAddresses(index: WatchIndex, change: SetChange): readonly Watch[] {
  const only = onlyAddress(change)
  if (only !== null) return index.ofAddress(only)
  return changedValues(change).flatMap((each) => index.ofAddress(each as IpAddress))
}

/** The address of a first set that has one, as most have, read without parsing JSON; null for other changes. */
function onlyAddress({ before = '[]', after }: SetChange): IpAddress | null {
  const isOne = before === '[]' && after.lastIndexOf('"', after.length - 3) === 1
  return isOne ? (after.slice(2, -2) as IpAddress) : null
}

/** `hostOf`: the host in the stored values of a record. */
function watchesOfHosts(
  index: WatchIndex,
  change: SetChange,
  kind: 'nameserver' | 'mailserver',
  hostOf: (values: unknown) => string,
): readonly Watch[] {
  const find = (): Watch[] => changedValues(change).flatMap((each) => index.ofHost(kind, hostOf(each)))
  const isFirst = change.before === undefined || change.before === '[]'
  return isFirst ? index.ofSet(kind + change.after, find) : find()
}

/** The stored values of an MX record. */
type MxValues = [priority: number, host: string]

/** The stored values that only one of both sets has. */
function changedValues({ before = '[]', after }: SetChange): unknown[] {
  const present = JSON.parse(after) as unknown[]
  if (before === '[]') return present
  const former = JSON.parse(before) as unknown[]
  return [...valuesWithout(present, former), ...valuesWithout(former, present)]
}

/** The values of a set that another one lacks. */
export function valuesWithout(values: readonly unknown[], others: readonly unknown[]): unknown[] {
  if (others.length === 0) return [...values]
  const texts = new Set(others.map((value) => JSON.stringify(value)))
  return values.filter((value) => !texts.has(JSON.stringify(value)))
}

/** The watches of the names in a certificate, and of their parents. */
export function watchesOfCertificate(index: WatchIndex, { names }: Certificate): Watch[] {
  return names.flatMap((name) => index.ofHost('certificate', name.startsWith('*.') ? name.slice(2) : name))
}
