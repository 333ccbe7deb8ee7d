/** The domains of a hosting company: many similar parked names, and customers that change. */

import { DEAF, HARBOUR, MEADOW, ORCHARD, PARKING, PLAIN_ONLY, SIXTH, SUMMIT } from '../hosts.ts'
import { type LabRow, NO_WEB, row, rows, SOA, type StateDescription } from '../lab-row.ts'
import { encrypted, everywhere, html, page, redirectsTo, type Site } from '../site.ts'
import { TARGET } from './redirects.ts'

/** The page of every parked name. */
const FOR_SALE = 'This domain is for sale. Inquire now.'

const parked: StateDescription = {
  at: [PARKING],
  site: everywhere(page(FOR_SALE)),
  records: { NS: ['ns1.parking.example', 'ns2.parking.example'], TXT: [['v=spf1 -all']] },
  web: { ssl: 'nocert', text: FOR_SALE },
}

const shop = (name: string, line: string, ...more: string[]): Site => encrypted(name, page(line, ...more))

/** A site with https at these addresses. */
const at = (
  name: string,
  addresses: readonly string[],
  line: string,
  rest: Partial<StateDescription> = {},
): StateDescription => ({
  at: addresses,
  site: shop(name, line),
  web: { redirect_to_https: true, text: line },
  ...rest,
})

const ABSENT: StateDescription = { fails: 'nxdomain', web: null }
const BREAD = 'Bread and cake by the harbour since 1890.'
const MAIL = [{ priority: 10, mail_server: 'mx1.harbour-post.example' }]

/** A changing domain, described by its two states. */
const changes = (
  name: string,
  shows: string,
  before: (name: string) => StateDescription,
  after: (name: string) => StateDescription,
): LabRow => row(name, shows, before(name), after(name))

const same =
  (line: string, rest: Partial<StateDescription> = {}) =>
  (name: string) =>
    at(name, [SUMMIT], line, rest)

const CHANGES: readonly LabRow[] = [
  changes(
    TARGET,
    'Many redirect to it. It moves to another address between two probes, and its mail and texts change too.',
    (name) => bakery(name, [HARBOUR], '202611010', 'v=spf1 -all'),
    (name) => bakery(name, [ORCHARD, SIXTH], '202611020', 'v=spf1 mx -all'),
  ),
  changes(
    'moved-address.example',
    'A new address, and everything else as before.',
    (name) => at(name, [HARBOUR], 'We have moved house.'),
    (name) => at(name, [ORCHARD], 'We have moved house.'),
  ),
  changes(
    'added-sixth.example',
    'An IPv6 address is added.',
    (name) => at(name, [HARBOUR], 'Now in six as well.'),
    (name) => at(name, [HARBOUR, SIXTH], 'Now in six as well.'),
  ),
  changes('new-redirect.example', 'A website becomes a redirect.', same('Still here.'), () => ({
    at: [SUMMIT],
    site: redirectsTo(`https://${TARGET}/`),
    web: { has_website: false, redirects_to: TARGET },
  })),
  changes(
    'redirect-removed.example',
    'A redirect becomes a website.',
    () => ({
      at: [SUMMIT],
      site: redirectsTo(`https://${TARGET}/`),
      web: { has_website: false, redirects_to: TARGET },
    }),
    same('On our own now.'),
  ),
  changes(
    'other-target.example',
    'A redirect leads elsewhere.',
    () => ({
      at: [SUMMIT],
      site: redirectsTo(`https://${TARGET}/`),
      web: { has_website: false, redirects_to: TARGET },
    }),
    () => ({
      at: [SUMMIT],
      site: redirectsTo('https://valid.example/'),
      web: { has_website: false, redirects_to: 'valid.example' },
    }),
  ),
  changes(
    'gone.example',
    'A removed domain: it leaves its address and keeps its history.',
    same('Closing down.'),
    () => ABSENT,
  ),
  changes('back-again.example', 'A removed domain returns.', () => ABSENT, same('Open again.')),
  changes(
    'servers-fail.example',
    'Its name servers fail at the second probe, and the known facts stay.',
    same('Hold the line.'),
    () => ({
      fails: 'servfail',
      web: null,
    }),
  ),
  changes(
    'redirect-gone.example',
    'A redirect whose domain is removed stays on record.',
    () => ({
      at: [SUMMIT],
      site: redirectsTo(`https://${TARGET}/`),
      web: { has_website: false, redirects_to: TARGET },
    }),
    () => ABSENT,
  ),
  changes('becomes-parked.example', 'A website is closed and parked.', same('Last orders.'), () => parked),
  changes(
    'goes-live.example',
    'A zone without an address becomes a website.',
    () => ({ web: NO_WEB }),
    same('Opening day.'),
  ),
  changes(
    'loses-address.example',
    'The addresses are removed, and mail stays.',
    same('Going postal.', { records: { MX: MAIL } }),
    () => ({
      records: { MX: MAIL },
      web: NO_WEB,
    }),
  ),
  changes('server-dies.example', 'The machine fails, and its name stays.', same('Hanging on.'), () => ({
    at: [DEAF],
    web: NO_WEB,
  })),
  changes(
    'new-serial.example',
    'Only the serial of its SOA changes.',
    same('As ever.'),
    same('As ever.', { records: { SOA: [{ ...SOA, serial: SOA.serial + 1 }] } }),
  ),
  changes(
    'new-mail.example',
    'Mail moves to another provider.',
    same('Write to us.', { records: { MX: MAIL } }),
    same('Write to us.', { records: { MX: [{ priority: 5, mail_server: 'in.other-post.example' }] } }),
  ),
  changes('new-alias.example', 'An alias of the same machine replaces the addresses.', same('Same place.'), (name) => ({
    records: { NS: [], SOA: [], CNAME: ['sites.new-alias.test'] },
    zone: { 'sites.new-alias.test': { A: [SUMMIT] } },
    site: shop(name, 'Same place.'),
    dns: { A: [SUMMIT] },
    web: { redirect_to_https: true, text: 'Same place.' },
  })),
  changes('new-accounts.example', 'Another text and a first account.', same('Old words.'), (name) => ({
    at: [SUMMIT],
    site: shop(name, 'New words.', '<a href="https://x.com/newwords">x</a>'),
    web: {
      redirect_to_https: true,
      text: 'New words. x',
      social_accounts: [{ network: 'x', type: 'x', username: 'newwords', url: 'https://x.com/newwords' }],
    },
  })),
  changes('drops-https.example', 'It leaves https and stays on http.', same('Plain again.'), () => ({
    at: [PLAIN_ONLY],
    site: everywhere(page('Plain again.')),
    web: { ssl: 'nocert', text: 'Plain again.' },
  })),
  changes(
    'private-now.example',
    'It moves to a private address, which is recorded, and the web becomes unknown.',
    same('In private.'),
    () => ({ at: ['10.0.0.1'], web: null }),
  ),
]

function bakery(name: string, addresses: readonly string[], serial: string, spf: string): StateDescription {
  const links = ['https://www.facebook.com/harbourbakery', 'https://www.instagram.com/harbourbakery']
  return {
    at: addresses,
    site: encrypted(`www.${name}`, page('Never seen.')),
    wwwSite: encrypted(`www.${name}`, {
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: html(BREAD, ...links.map((link) => `<a href="${link}"></a>`)),
    }),
    records: { MX: MAIL, TXT: [[spf]], SOA: [{ ...SOA, serial: Number(`${serial}1`) }] },
    web: {
      redirect_to_https: true,
      redirect_to_www: true,
      text: BREAD,
      social_accounts: [
        { network: 'facebook', type: 'facebook', username: 'harbourbakery', url: links[0]! },
        { network: 'instagram', type: 'instagram', username: 'harbourbakery', url: links[1]! },
      ],
    },
  }
}

export const HOSTING: readonly LabRow[] = [
  rows('parked-#.example', 250, 'Hundreds of names, all parked on one address with one page.', () => parked),
  ...CHANGES,
  row('stays.example', 'Nothing changes between two probes.', at('stays.example', [MEADOW], 'Here to stay.')),
]
