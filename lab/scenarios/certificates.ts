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
  shows('valid.example', 'valid', 'valid', 'A certificate of a trusted authority, with its intermediate.'),
  shows('expired.example', 'expired', 'invalid', 'A certificate that expired last month. The page is still read.'),
  shows('not-yet-valid.example', 'not_yet_valid', 'invalid', 'A certificate that is valid from next month on.'),
  shows('self-signed.example', 'self', 'invalid', 'A self-signed certificate.'),
  shows('wrong-name.example', 'other', 'invalid', 'A valid certificate for another name.'),
  shows(
    'incomplete-chain.example',
    'incomplete',
    'invalid',
    'The intermediate is not sent, so the chain is incomplete.',
  ),
  shows('unknown-authority.example', 'untrusted', 'invalid', 'A certificate of an untrusted authority.'),
  shows(
    'wildcard-only.example',
    'wildcard',
    'invalid',
    'A certificate for *.wildcard-only.example is not valid for the bare name.',
  ),
  shows('name-in-subject.example', 'subject_only', 'valid', 'The name is only in the subject, which OpenSSL accepts.'),
  shows('signed-by-leaf.example', 'leaf', 'invalid', 'The issuer is not an authority.'),
  shows('client-certificate.example', 'client', 'invalid', 'A certificate for clients, not for servers.'),
  shows('signed-with-sha1.example', 'weak', 'invalid', 'A certificate signed with SHA-1, which is no longer accepted.'),
  row('no-tls.example', 'Nothing listens on port 443.', behind(PLAIN_ONLY, 'nocert')),
  row('tls-hangs.example', 'Port 443 accepts the connection and sends nothing.', behind(TLS_MUTE, 'nocert')),
  row('tls-cut.example', 'Port 443 closes the connection before it sends a certificate.', behind(TLS_CUT, 'nocert')),
  row('tls-plain.example', 'Port 443 speaks HTTP without TLS.', behind(TLS_PLAIN, 'nocert')),
  row(
    'tls-old.example',
    'Port 443 only speaks TLS 1.0. Its certificate is judged like any other.',
    behind(TLS_OLD, 'valid'),
  ),
  row(
    'tls-wants-client.example',
    'Port 443 presents a valid certificate, then requires one from its client.',
    behind(TLS_DEMANDING, 'valid'),
  ),
  row('tls-http2.example', 'Port 443 only speaks HTTP/2. Its certificate is still judged.', behind(TLS_HTTP2, 'valid')),
  row('http2-only.example', 'It redirects to https, where the server only speaks HTTP/2. Its page is read.', {
    at: [TLS_HTTP2],
    site: encrypted('http2-only.example', page('Read by HTTP/2.')),
    web: { redirect_to_https: true, text: 'Read by HTTP/2.' },
  }),
  row('hangs-after-redirect.example', 'It redirects to https, where the handshake never ends: no website.', {
    at: [TLS_MUTE],
    site: encrypted('hangs-after-redirect.example', page('Never read.')),
    web: { has_website: false, redirect_to_https: true, ssl: 'nocert' },
  }),
  row('renewed.example', 'The certificate has expired, and is new at the second probe.', ...renewed()),
]

function renewed(): [StateDescription, StateDescription] {
  return [presented('renewed.example', 'expired', 'invalid'), presented('renewed.example', 'valid', 'valid')]
}
