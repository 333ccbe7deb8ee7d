/** Redirects within a domain and to other domains, of every kind, and redirects that lead nowhere. */

import { HARBOUR, MEADOW, PLAIN_ONLY, SECURE_ONLY } from '../hosts.ts'
import { type LabRow, row, type StateDescription } from '../lab-row.ts'
import { encrypted, everywhere, page, redirect, redirectsTo, refresh, type Site } from '../site.ts'

export const HERE = page('You have arrived.')
const text = 'You have arrived.'

/** The domain that many others redirect to. */
export const TARGET = 'harbour-bakery.example'

/** A site that redirects to another domain. */
export const leaves = (
  site: Site,
  redirects_to: string | null,
  web: Partial<NonNullable<StateDescription['web']>> = {},
): StateDescription => ({
  at: [MEADOW],
  site,
  web: { has_website: false, redirects_to, ...web },
})

const byStatus = (status: number): LabRow =>
  row(
    `moved-${status}.example`,
    `To another domain by a ${status}.`,
    leaves(redirectsTo(`https://${TARGET}/`, status), TARGET),
  )

/** http to https on the bare name, then to `www.`. */
const twoSteps: Site = {
  plain: redirect('https://two-steps.example/'),
  secure: redirect('https://www.two-steps.example/'),
}

/** Redirects from `/` to `/1` and so on up to `/count`, which is a page. */
export const stairs = (count: number): Site =>
  everywhere((path) => {
    const step = Number(path.slice(1) || 0)
    return step === count ? HERE : redirect(`/${step + 1}`)
  })

const INSIDE: readonly LabRow[] = [
  row('to-https.example', 'From http to https by a 308.', {
    at: [MEADOW],
    site: { plain: redirect('https://to-https.example/', 308), secure: HERE },
    web: { redirect_to_https: true, text },
  }),
  row('to-www.example', 'From the bare name to its www., without encryption.', {
    at: [MEADOW],
    site: redirectsTo('http://www.to-www.example/'),
    wwwSite: everywhere(HERE),
    web: { redirect_to_www: true, text },
  }),
  row('two-steps.example', 'To https first, then to www.', {
    at: [MEADOW],
    site: twoSteps,
    wwwSite: everywhere(HERE),
    web: { redirect_to_https: true, redirect_to_www: true, text },
  }),
  row('one-step.example', 'To https and www. in one step.', {
    at: [MEADOW],
    site: redirectsTo('https://www.one-step.example/'),
    wwwSite: encrypted('www.one-step.example', HERE),
    web: { redirect_to_https: true, redirect_to_www: true, text },
  }),
  row('to-bare.example', 'The www. host redirects to the bare name, which a chain from the bare name does not see.', {
    at: [MEADOW],
    site: everywhere(HERE),
    wwwSite: redirectsTo('http://to-bare.example/'),
    web: { text },
  }),
  row('from-https-to-www.example', 'Port 80 is closed, and https redirects to www.', {
    at: [SECURE_ONLY],
    site: redirectsTo('https://www.from-https-to-www.example/'),
    wwwSite: everywhere(HERE),
    web: { redirect_to_www: true, text },
  }),
  row('to-subdomain.example', 'Another host of the same registrable domain is the domain itself.', {
    at: [MEADOW],
    site: redirectsTo('http://shop.to-subdomain.example/'),
    zone: { 'shop.to-subdomain.example': { A: [HARBOUR] } },
    sites: { 'shop.to-subdomain.example': everywhere(HERE) },
    web: { redirects_to: 'shop.to-subdomain.example', text },
  }),
  row('relative.example', 'Location is relative.', {
    at: [MEADOW],
    site: everywhere((path) => (path === '/start' ? HERE : redirect('start', 302))),
    web: { text },
  }),
  row('fragment.example', 'A fragment is dropped, and letter case of scheme and host does not matter.', {
    at: [MEADOW],
    site: { plain: redirect('HTTPS://Fragment.EXAMPLE/#top'), secure: HERE },
    web: { redirect_to_https: true, text },
  }),
  row('refresh-inside.example', 'A meta refresh to another page of the same site.', {
    at: [MEADOW],
    site: everywhere((path) => (path === '/' ? refresh('/start') : HERE)),
    web: { text },
  }),
  row('refresh-to-https.example', 'A meta refresh to https after five seconds, which is still followed.', {
    at: [MEADOW],
    site: { plain: refresh('https://refresh-to-https.example/', 5), secure: HERE },
    web: { redirect_to_https: true, text },
  }),
  row('refresh-late.example', 'A meta refresh after half a minute is not followed.', {
    at: [MEADOW],
    site: everywhere(refresh(`https://${TARGET}/`, 30)),
    web: { text: 'You are sent on.' },
  }),
  row('nine-steps.example', 'A page at the end of nine redirects.', { at: [MEADOW], site: stairs(9), web: { text } }),
]

const OUT: readonly LabRow[] = [
  ...[301, 302, 303, 307, 308].map(byStatus),
  row('moved-by-steps.example', 'To another domain over several hops: https, www., and out.', {
    at: [MEADOW],
    site: {
      plain: redirect('https://moved-by-steps.example/'),
      secure: redirect('https://www.moved-by-steps.example/'),
    },
    wwwSite: redirectsTo(`https://${TARGET}/`),
    web: { has_website: false, redirects_to: TARGET, redirect_to_https: true, redirect_to_www: true },
  }),
  row(
    'moved-twice.example',
    'To a domain that redirects further: the end of the chain counts.',
    leaves(redirectsTo('https://moved-301.example/'), TARGET),
  ),
  row(
    'moved-to-host.example',
    'To a host of another domain: its registrable domain is the target.',
    leaves(redirectsTo(`https://www.${TARGET}/path?query#fragment`), `www.${TARGET}`),
  ),
  row(
    'moved-by-refresh.example',
    'To another domain by meta refresh.',
    leaves(everywhere(refresh(`https://${TARGET}/`)), TARGET),
  ),
  row(
    'moved-protocol-relative.example',
    'To another domain by //.',
    leaves(redirectsTo(`//${TARGET}/`), `www.${TARGET}`),
  ),
  row(
    'moved-with-user.example',
    'The host follows the @.',
    leaves(redirectsTo(`http://to-https.example@${TARGET}/`), `www.${TARGET}`),
  ),
  row(
    'moved-to-nothing.example',
    'To a domain that does not exist.',
    leaves(redirectsTo('http://nobody-has-this.test/'), 'nobody-has-this.test'),
  ),
  row(
    'moved-to-silence.example',
    'To a domain that does not answer.',
    leaves(redirectsTo('http://mute.example/'), 'mute.example'),
  ),
  row(
    'moved-to-private.example',
    'To a domain with a private address.',
    leaves(redirectsTo('http://private.example/'), 'private.example'),
  ),
  row(
    'moved-to-port.example',
    'To another port of another domain.',
    leaves(redirectsTo(`http://${TARGET}:8080/`), TARGET),
  ),
  row('moved-to-idn.example', 'To an internationalized domain, in letters.', {
    ...leaves(redirectsTo(Buffer.from('https://bücher.example/').toString('latin1')), 'xn--bcher-kva.example'),
  }),
  row('moved-from-http.example', 'Port 443 is closed, and port 80 redirects.', {
    ...leaves(redirectsTo(`https://${TARGET}/`), TARGET, { ssl: 'nocert' }),
    at: [PLAIN_ONLY],
  }),
  row(
    'lab_a.co.uk',
    'Two names under one public suffix are two domains.',
    leaves(redirectsTo('https://www.lab_b.co.uk/'), 'www.lab_b.co.uk'),
  ),
  row('lab_b.co.uk', 'The registrable domain under a suffix of two labels.', {
    at: [MEADOW],
    site: encrypted('www.lab_b.co.uk', HERE),
    web: { redirect_to_https: true, redirect_to_www: true, text },
  }),
  row(
    'lab_a.github.io',
    'The private section of the public suffix list counts.',
    leaves(redirectsTo('https://lab_b.github.io/'), 'lab_b.github.io'),
  ),
  row('moved-without-www.example', 'It redirects to another domain and has no www. host.', {
    at: [MEADOW],
    site: redirectsTo(`http://${TARGET}/`),
    www: null,
    web: { has_website: false, redirects_to: `www.${TARGET}` },
  }),
  row('there-and-back.example', 'It leaves the domain and returns: neither a website nor a target.', {
    ...leaves(
      everywhere((path) => (path === '/back' ? HERE : redirect('http://sends-back.test/'))),
      null,
    ),
    zone: { 'sends-back.test': { A: [HARBOUR] } },
    sites: { 'sends-back.test': redirectsTo('http://there-and-back.example/back') },
  }),
]

export const REDIRECTS: readonly LabRow[] = [...INSIDE, ...OUT]
