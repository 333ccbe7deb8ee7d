/** Where a domain answers: which port, host and address family, or none that the crawler uses. */

import {
  BANNER,
  CROWD,
  DEAF,
  HARBOUR,
  MEADOW,
  MUTE,
  ORCHARD,
  PLAIN_ONLY,
  SECURE_ONLY,
  SIXTH,
  SUMMIT,
} from '../hosts.ts'
import { type LabRow, NO_WEB, row, type StateDescription } from '../lab-row.ts'
import { everywhere, page, type Site } from '../site.ts'

const OPEN: Site = everywhere(page('The door is open.'))
const text = 'The door is open.'

/** Addresses that are recorded but never connected to. */
const closed = (name: string, address: string, shows: string): LabRow => row(name, shows, { at: [address], web: null })

const onlyWww = (bare: StateDescription): StateDescription => ({
  www: [MEADOW],
  wwwSite: OPEN,
  ...bare,
  web: { only_with_www: true, text },
})

export const REACH: readonly LabRow[] = [
  row('http-only.example', 'A page on port 80, and nothing on port 443.', {
    at: [PLAIN_ONLY],
    site: OPEN,
    web: { ssl: 'nocert', text },
  }),
  row('https-only.example', 'Nothing on port 80: the chain starts with https, and nothing redirects there.', {
    at: [SECURE_ONLY],
    site: OPEN,
    web: { text },
  }),
  row('www-only.example', 'The bare name has no address, and its www. host has a page.', onlyWww({ web: null })),
  row(
    'www-only-refused.example',
    'The bare name has an address on which nothing listens.',
    onlyWww({ at: [DEAF], web: null }),
  ),
  row(
    'www-only-mute.example',
    'The bare name accepts connections and never answers.',
    onlyWww({ at: [MUTE], web: null }),
  ),
  row('www-only-http.example', 'Only www., and only http: no certificate.', {
    www: [PLAIN_ONLY],
    wwwSite: OPEN,
    web: { only_with_www: true, ssl: 'nocert', text },
  }),
  row('www-only-wildcard.example', 'The certificate is for *. and the name, and only www. answers: valid.', {
    www: [MEADOW],
    wwwSite: { ...OPEN, certificate: 'wildcard' },
    sites: { 'www-only-wildcard.example': { ...OPEN, certificate: 'wildcard' } },
    web: { only_with_www: true, text },
  }),
  row('bare-only.example', 'There is no www. host.', { at: [MEADOW], site: OPEN, www: null, web: { text } }),
  row('ipv4-only.example', 'Only an A record.', { at: [SUMMIT], site: OPEN, web: { text } }),
  row('ipv6-only.example', 'Only an AAAA record.', { at: [SIXTH], site: OPEN, web: { text } }),
  row('both-families.example', 'A and AAAA records.', { at: [SUMMIT, SIXTH], site: OPEN, web: { text } }),
  row('two-addresses.example', 'Two addresses, each with its own neighbours.', {
    at: [ORCHARD, SUMMIT],
    site: OPEN,
    web: { text },
  }),
  row('one-dead-address.example', 'One of two addresses is dead, and the other answers.', {
    at: [DEAF, ORCHARD],
    site: OPEN,
    web: { text },
  }),
  row('crowd.example', 'Three hundred addresses: the first 256 are stored, and a few are tried.', {
    at: CROWD,
    site: OPEN,
    dns: { A: CROWD.slice(0, 256) },
    web: { text },
  }),
  row('refused.example', 'An address on which nothing listens.', { at: [DEAF], web: NO_WEB }),
  row('mute.example', 'Both ports accept the connection and send nothing.', { at: [MUTE], web: NO_WEB }),
  row('not-http.example', 'Both ports speak SSH.', { at: [BANNER], web: NO_WEB }),
  closed('private.example', '10.0.0.1', 'A private address is recorded and never connected to: the web is unknown.'),
  closed('private-192.example', '192.168.1.1', 'The same with another private range.'),
  closed('metadata.example', '169.254.169.254', 'The address of cloud metadata services.'),
  closed('loopback.example', '127.0.0.1', 'A loopback address that is not a machine of the lab.'),
  closed('documentation.example', '192.0.2.1', 'A range for documentation.'),
  closed('unique-local.example', 'fc00::1', 'A private IPv6 address.'),
  closed('mapped.example', '::ffff:10.0.0.1', 'A private IPv4 address written as IPv6.'),
  closed('nat64.example', '64:ff9b::a00:1', 'A private IPv4 address behind a NAT64 translator.'),
  row('private-and-public.example', 'One of two addresses is private, and the other is probed.', {
    at: ['10.0.0.1', SUMMIT],
    site: OPEN,
    web: { text },
  }),
  row('private-www.example', 'The bare name has no address, and its www. host a private one: the web is unknown.', {
    www: ['10.0.0.2'],
    web: null,
  }),
  row('neighbour.example', 'It shares its address with many others.', { at: [HARBOUR], site: OPEN, web: { text } }),
]
