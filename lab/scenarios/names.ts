/** DNS scenarios: records of every type, aliases, and every kind of failure. */

import type { DnsRecord } from '../dns-table.ts'
import { HARBOUR, ORCHARD, SUMMIT } from '../hosts.ts'
import { type LabRow, NO_WEB, row, SOA, type StateDescription } from '../lab-row.ts'
import { everywhere, page, type Site } from '../site.ts'

const HOME: Site = everywhere(page('Named and found.'))
const text = 'Named and found.'

/** A name with a website and these records. */
const has = (
  records: NonNullable<StateDescription['records']>,
  dns: StateDescription['dns'] = {},
): StateDescription => ({
  at: [SUMMIT],
  site: HOME,
  records,
  dns,
  web: { text },
})

const fails = (name: string, outcome: NonNullable<StateDescription['fails']>, shows: string): LabRow =>
  row(name, shows, { fails: outcome, web: null })

const mailbox = (name: string, box: string, admin_email: string, shows: string): LabRow =>
  row(name, shows, has({ SOA: [{ ...SOA, mailbox: box }] }, { SOA: [{ ...observedSoa(), admin_email }] }))

const txt = (name: string, shows: string, records: DnsRecord['TXT'][], observed: string[][]): LabRow =>
  row(name, shows, has({ TXT: records }, { TXT: observed }))

function observedSoa() {
  const { mailbox: _, ...rest } = SOA
  return rest
}

/** The address of cloud metadata services. */
const SECRETS = '169.254.169.254'
const LONG = 'v=DKIM1; k=rsa; p='.padEnd(255, 'A')
const ALIAS = { NS: [], SOA: [], CNAME: ['sites.hosting.example'] }

const ABSENT: readonly LabRow[] = [
  fails('does-not-exist.example', 'nxdomain', 'NXDOMAIN.'),
  fails('servfail.example', 'servfail', 'SERVFAIL.'),
  fails('refuses.example', 'refused', 'REFUSED.'),
  fails('lame.example', 'lame', 'The server is not responsible for the zone.'),
  fails('silent.example', 'silent', 'The server never answers.'),
  fails('malformed.example', 'malformed', 'The answer ends within a record.'),
  row('slow.example', 'Each answer takes a fifth of a second.', has({ delay: 200 })),
  row('truncated.example', 'UDP answers are truncated, and TCP has the whole answer.', has({ truncated: true })),
  row('no-mail-answer.example', 'Only MX fails: it is left out, and the rest is valid.', has({ MX: 'servfail' })),
  row('no-text-answer.example', 'Only TXT is never answered: it is left out.', has({ TXT: 'silent' })),
  row('no-sixth-answer.example', 'Only AAAA fails: the website is probed over IPv4.', has({ AAAA: 'refused' })),
  row('no-fourth-answer.example', 'A fails and there is no AAAA: it is unknown whether there is an address.', {
    records: { A: 'servfail' },
    web: null,
  }),
]

const ALIASES: readonly LabRow[] = [
  row('alias.example', 'A CNAME at the name: addresses are those at its end, and other records are not its own.', {
    records: ALIAS,
    zone: { 'sites.hosting.example': { A: [ORCHARD], MX: [{ priority: 1, mail_server: 'mx.hosting.example' }] } },
    sites: { 'alias.example': HOME },
    dns: { A: [ORCHARD] },
    web: { text },
  }),
  row('alias-chain.example', 'Three CNAMEs in a row.', {
    records: { NS: [], SOA: [], CNAME: ['one.alias-chain.test'] },
    zone: {
      'one.alias-chain.test': { CNAME: ['two.alias-chain.test'] },
      'two.alias-chain.test': { CNAME: ['three.alias-chain.test'] },
      'three.alias-chain.test': { A: [ORCHARD] },
    },
    sites: { 'alias-chain.example': HOME },
    dns: { A: [ORCHARD] },
    web: { text },
  }),
  row('alias-stops.example', 'The resolver returns only the alias, and its target must be queried.', {
    records: { NS: [], SOA: [], CNAME: ['end.alias-stops.test'], omitsTarget: true },
    zone: { 'end.alias-stops.test': { A: [ORCHARD] } },
    sites: { 'alias-stops.example': HOME },
    dns: { A: [ORCHARD] },
    web: { text },
  }),
  row('alias-to-nothing.example', 'A CNAME whose target does not exist: the name exists and has no address.', {
    records: { NS: [], SOA: [], CNAME: ['nowhere.alias-to-nothing.test'] },
    web: NO_WEB,
  }),
  row('alias-and-mail.example', 'A CNAME next to other records, which RFC 1034 forbids but which exists.', {
    records: { CNAME: ['sites.hosting.example'], MX: [{ priority: 10, mail_server: 'mx.alias-and-mail.example' }] },
    sites: { 'alias-and-mail.example': HOME },
    dns: { A: [ORCHARD] },
    web: { text },
  }),
]

const RECORDS: readonly LabRow[] = [
  row('dns-only.example', 'A zone with name servers and texts but without any address.', {
    records: { TXT: [['v=spf1 -all']] },
    web: NO_WEB,
  }),
  row('mx-only.example', 'Only mail.', {
    records: { MX: [{ priority: 10, mail_server: 'mx.mx-only.example' }] },
    web: NO_WEB,
  }),
  row('null-mx.example', 'A null MX: the domain accepts no mail (RFC 7505).', {
    ...has({ MX: [{ priority: 0, mail_server: '.' }] }),
  }),
  row(
    'many-mx.example',
    'Mail servers by priority, then by name.',
    has({
      MX: [
        { priority: 20, mail_server: 'b.mx.example' },
        { priority: 10, mail_server: 'z.mx.example' },
        { priority: 20, mail_server: 'A.MX.example' },
      ],
    }),
  ),
  row('letter-case.example', 'Names in records are returned in lower case.', {
    ...has({ NS: ['NS1.Harbour-DNS.example', 'ns2.harbour-dns.example'] }, {}),
  }),
  row(
    'escaped-hosts.example',
    'Host names with a dot inside a label and with an invalid byte.',
    has({ NS: ['a\\.b.harbour-dns.example', 'c\\000d.harbour-dns.example'] }),
  ),
  txt(
    'long-text.example',
    'A TXT of more than 255 bytes is split into strings.',
    [[LONG, 'the rest']],
    [[LONG, 'the rest']],
  ),
  txt(
    'latin-text.example',
    'A TXT that is not UTF-8: each invalid byte is written as \\DDD.',
    [[Buffer.from('caf\xe9', 'latin1')]],
    [['caf\\233']],
  ),
  txt('null-byte-text.example', 'A TXT with a null byte.', [[Buffer.from('before\0after')]], [['before\\000after']]),
  txt(
    'quoted-text.example',
    'Quotes stay as they are, and a backslash is doubled.',
    [['say "hi"', 'C:\\zone']],
    [['say "hi"', 'C:\\\\zone']],
  ),
  txt('empty-text.example', 'A TXT with an empty string.', [['']], [['']]),
  txt(
    'split-letter.example',
    'A character that is split between two strings is decoded in neither.',
    [[Buffer.from([0x61, 0xc3]), Buffer.from([0xbc, 0x62])]],
    [['a\\195', '\\188b']],
  ),
  txt(
    'many-texts.example',
    'Of six hundred texts, the first five hundred in canonical order are stored.',
    Array.from({ length: 600 }, (_, index) => [`text ${String(index).padStart(3, '0')}`]),
    Array.from({ length: 500 }, (_, index) => [`text ${String(index).padStart(3, '0')}`]),
  ),
  mailbox(
    'dotted-mailbox.example',
    'john\\.doe.dotted-mailbox.example',
    'john.doe@dotted-mailbox.example',
    'An escaped dot belongs to the mailbox.',
  ),
  mailbox('root-mailbox.example', '.', '.', 'The root as mailbox: no administrator.'),
  mailbox('one-label-mailbox.example', 'hostmaster', 'hostmaster', 'A mailbox without a domain.'),
  mailbox(
    'at-sign-mailbox.example',
    'hostmaster@at-sign-mailbox.example',
    'hostmaster@at-sign-mailbox@example',
    'An at sign instead of a dot: the first dot becomes the at sign.',
  ),
  row('big-numbers.example', 'The highest numbers of an SOA.', {
    ...has({ SOA: [{ ...SOA, serial: 4_294_967_295, minimum_ttl_seconds: 4_294_967_295 }] }),
  }),
  row(
    'rebinding.example',
    'A name with rotating addresses: first a public one, then an internal one. Never connected to.',
    { ...turning([SUMMIT, SECRETS], SUMMIT), site: HOME, web: { text } },
    { ...turning([SECRETS, SECRETS, SUMMIT], SECRETS), site: HOME, web: null },
  ),
  row('xn--mnchen-3ya.example', 'An internationalized domain.', { at: [HARBOUR], site: HOME, web: { text } }),
]

/** Rotating addresses, so that every probe gets another answer. */
function turning(addresses: string[], first: string): Pick<StateDescription, 'records' | 'dns'> {
  return { records: { A: { rotation: addresses.map((address) => [address]) } }, dns: { A: [first] } }
}

export const NAMES: readonly LabRow[] = [...ABSENT, ...ALIASES, ...RECORDS]
