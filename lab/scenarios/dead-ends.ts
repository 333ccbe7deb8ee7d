/** Redirects that lead nowhere: loops, forbidden addresses and hosts without an address. */

import { HARBOUR, MEADOW, PLAIN_ONLY } from '../hosts.ts'
import { type LabRow, NO_WEB, row } from '../lab-row.ts'
import { encrypted, everywhere, redirect, redirectsTo, refresh } from '../site.ts'
import { HERE, leaves, stairs } from './redirects.ts'

const NOWHERE: readonly LabRow[] = [
  row('loop.example', 'A redirect to itself.', leaves(redirectsTo('http://loop.example/'), null)),
  row('loop-of-two.example', 'From http to https and back again.', {
    ...leaves(
      { plain: redirect('https://loop-of-two.example/'), secure: redirect('http://loop-of-two.example/') },
      null,
    ),
    web: { has_website: false, redirect_to_https: true },
  }),
  row('loop-of-refresh.example', 'Two pages that redirect to each other.', {
    ...leaves(
      everywhere((path) => refresh(path === '/' ? '/other' : '/')),
      null,
    ),
  }),
  row('endless-stairs.example', 'Endless redirects.', leaves(stairs(Number.POSITIVE_INFINITY), null)),
  row('endless-abroad.example', 'Endless redirects on another domain.', {
    ...leaves(redirectsTo('http://stairs.test/'), null),
    zone: { 'stairs.test': { A: [HARBOUR] } },
    sites: { 'stairs.test': stairs(Number.POSITIVE_INFINITY) },
  }),
  row('to-private-address.example', 'To a private address.', leaves(redirectsTo('http://10.0.0.1/'), null)),
  row(
    'to-metadata.example',
    'To the address of cloud metadata services.',
    leaves(redirectsTo('http://169.254.169.254/latest/'), null),
  ),
  row(
    'to-spelled-address.example',
    'To loopback, written as one number.',
    leaves(redirectsTo('http://2130706433/'), null),
  ),
  row('to-loopback-6.example', 'To loopback of IPv6.', leaves(redirectsTo('http://[::1]/'), null)),
  row('to-private-host.example', 'To its own host with a private address: only the certificate is judged.', {
    at: [MEADOW],
    site: redirectsTo('http://intranet.to-private-host.example/'),
    zone: { 'intranet.to-private-host.example': { A: ['10.0.0.1'] } },
    web: null,
    ssl: 'valid',
  }),
  row('to-port.example', 'To another port of its own host: only the certificate is judged.', {
    at: [MEADOW],
    site: redirectsTo('http://to-port.example:8080/'),
    web: null,
    ssl: 'valid',
  }),
  row(
    'to-nothing.example',
    'To its own host that does not exist.',
    leaves(redirectsTo('http://gone.to-nothing.example/'), 'gone.to-nothing.example'),
  ),
]

const NO_PLACE: readonly LabRow[] = [
  row(
    'no-location.example',
    'A 302 without Location is not a website.',
    leaves(everywhere({ status: 302, headers: {}, body: '' }), null),
  ),
  row('empty-location.example', 'Location is empty.', leaves(redirectsTo(''), null)),
  row('broken-location.example', 'Location is not a URL.', leaves(redirectsTo('http://[broken/'), null)),
  row(
    'other-scheme.example',
    'Location has a scheme other than http and https.',
    leaves(redirectsTo('ftp://files.example/'), null),
  ),
  row('script-location.example', 'Location is a script.', leaves(redirectsTo('javascript:alert(1)'), null)),
  row('sends-to-dead.example', 'It redirects to https on its own host, where nothing listens.', {
    at: [PLAIN_ONLY],
    site: encrypted('sends-to-dead.example', HERE),
    web: { ...NO_WEB, redirect_to_https: true },
  }),
]

export const DEAD_ENDS: readonly LabRow[] = [...NOWHERE, ...NO_PLACE]
