/** Valid and invalid certificates, and ports 443 without one. */

import type { Kind } from '../authority.ts'
import { HARBOUR, PLAIN_ONLY, TLS_CUT, TLS_DEMANDING, TLS_HTTP2, TLS_MUTE, TLS_OLD, TLS_PLAIN } from '../hosts.ts'
import { type LabRow, row, type StateDescription } from '../lab-row.ts'
import { encrypted, everywhere, page } from '../site.ts'

/** A site that redirects to https, where it has this certificate. */
function presented(name: string, certificate: Kind, ssl: 'valid' | 'invalid'): StateDescription {
  const text = `The certificate of ${name} is looked at.`
  return {
    at: [HARBOUR],
    site: encrypted(name, page(text), { certificate }),
    web: { redirect_to_https: true, ssl, text },
  }
}

const shows = (name: string, certificate: Kind, ssl: 'valid' | 'invalid', sentence: string): LabRow =>
  row(name, sentence, presented(name, certificate, ssl))

/** A page over http on a machine with an unusual port 443. */
function behind(address: string, ssl: 'valid' | 'nocert'): StateDescription {
  return {
    at: [address],
    site: everywhere(page('Read without encryption.')),
    web: { ssl, text: 'Read without encryption.' },
  }
}

export const CERTIFICATES: readonly LabRow[] = [
  shows('valid.example', 'valid', 'valid', 'A certificate of an authority that is trusted, with its intermediate.'),
  shows('expired.example', 'expired', 'invalid', 'A certificate that ended last month; the page is read all the same.'),
  shows('not-yet-valid.example', 'not_yet_valid', 'invalid', 'A certificate that begins next month.'),
  shows('self-signed.example', 'self', 'invalid', 'A certificate that nobody but itself vouches for.'),
  shows('wrong-name.example', 'other', 'invalid', 'A good certificate, but for somebody else.'),
  shows(
    'incomplete-chain.example',
    'incomplete',
    'invalid',
    'The intermediate is not sent, so nothing leads to the root.',
  ),
  shows('unknown-authority.example', 'untrusted', 'invalid', 'A certificate of an authority that nobody trusts.'),
  shows(
    'wildcard-only.example',
    'wildcard',
    'invalid',
    'A certificate for *.wildcard-only.example is none for the bare name.',
  ),
  shows(
    'name-in-subject.example',
    'subject_only',
    'valid',
    'The name stands in the subject alone, which OpenSSL takes.',
  ),
  shows('signed-by-leaf.example', 'leaf', 'invalid', 'The issuer is no authority.'),
  shows('client-certificate.example', 'client', 'invalid', 'A certificate that was made for clients, not for servers.'),
  shows('signed-with-sha1.example', 'weak', 'invalid', 'A certificate signed with SHA-1, which nobody takes any more.'),
  row('no-tls.example', 'Nobody listens on 443.', behind(PLAIN_ONLY, 'nocert')),
  row('tls-hangs.example', 'Port 443 takes the connection and never says a word.', behind(TLS_MUTE, 'nocert')),
  row('tls-cut.example', 'Port 443 hangs up before a certificate came.', behind(TLS_CUT, 'nocert')),
  row('tls-plain.example', 'Port 443 speaks HTTP without TLS.', behind(TLS_PLAIN, 'nocert')),
  row(
    'tls-old.example',
    'Port 443 speaks TLS 1.0 alone; its certificate is judged like any other.',
    behind(TLS_OLD, 'valid'),
  ),
  row(
    'tls-wants-client.example',
    'Port 443 shows a good certificate, then wants one from its client.',
    behind(TLS_DEMANDING, 'valid'),
  ),
  row(
    'tls-http2.example',
    'Port 443 speaks HTTP/2 alone; its certificate is judged all the same.',
    behind(TLS_HTTP2, 'valid'),
  ),
  row('http2-only.example', 'It sends to https, where the server speaks HTTP/2 alone: its page is read.', {
    at: [TLS_HTTP2],
    site: encrypted('http2-only.example', page('Read by HTTP/2.')),
    web: { redirect_to_https: true, text: 'Read by HTTP/2.' },
  }),
  row('hangs-after-redirect.example', 'It sends to https, where the handshake never ends: no website.', {
    at: [TLS_MUTE],
    site: encrypted('hangs-after-redirect.example', page('Never read.')),
    web: { has_website: false, redirect_to_https: true, ssl: 'nocert' },
  }),
  row('renewed.example', 'The certificate had ended, and is new at the second visit.', ...renewed()),
]

function renewed(): [StateDescription, StateDescription] {
  return [presented('renewed.example', 'expired', 'invalid'), presented('renewed.example', 'valid', 'valid')]
}
