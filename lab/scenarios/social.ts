/** Social accounts: one of every network, the ways to link to them, and links that only resemble one. */

import { HARBOUR, ORCHARD } from '../hosts.ts'
import { type ExpectedWeb, type LabRow, row } from '../lab-row.ts'
import { everywhere, html, page, type Reply, redirectsTo, reply } from '../site.ts'

type Account = ExpectedWeb['social_accounts'][number]
/** Network, type, username, canonical URL, and the URL as the site writes it. */
type Known = readonly [network: string, type: string, username: string, url: string, written: string]

const KNOWN: readonly Known[] = [
  [
    'facebook',
    'facebook',
    'harbourbakery',
    'https://www.facebook.com/harbourbakery',
    'http://facebook.com/harbourbakery/',
  ],
  [
    'instagram',
    'instagram',
    'harbourbakery',
    'https://www.instagram.com/harbourbakery',
    'https://instagram.com/harbourbakery?igshid=1',
  ],
  ['x', 'x', 'harbourbakery', 'https://x.com/harbourbakery', 'https://twitter.com/harbourbakery'],
  [
    'linkedin',
    'linkedin_company',
    'harbour-bakery',
    'https://www.linkedin.com/company/harbour-bakery',
    'https://uk.linkedin.com/company/harbour-bakery/',
  ],
  [
    'youtube',
    'youtube',
    'harbourbakery',
    'https://www.youtube.com/@harbourbakery',
    'https://m.youtube.com/@harbourbakery/videos',
  ],
  [
    'tiktok',
    'tiktok',
    'harbourbakery',
    'https://www.tiktok.com/@harbourbakery',
    'https://tiktok.com/@harbourbakery?lang=en',
  ],
  [
    'pinterest',
    'pinterest',
    'harbourbakery',
    'https://www.pinterest.com/harbourbakery',
    'https://www.pinterest.co.uk/harbourbakery/',
  ],
  [
    'threads',
    'threads',
    'harbourbakery',
    'https://www.threads.com/@harbourbakery',
    'https://www.threads.net/@harbourbakery',
  ],
  [
    'bluesky',
    'bluesky',
    'harbourbakery.bsky.social',
    'https://bsky.app/profile/harbourbakery.bsky.social',
    'https://bsky.app/profile/harbourbakery.bsky.social',
  ],
  [
    'mastodon',
    'mastodon',
    'harbourbakery@mastodon.social',
    'https://mastodon.social/@harbourbakery',
    'https://mastodon.social/@harbourbakery',
  ],
  ['telegram', 'telegram', 'harbourbakery', 'https://t.me/harbourbakery', 'https://telegram.me/harbourbakery'],
  [
    'whatsapp',
    'whatsapp',
    '442071234567',
    'https://wa.me/442071234567',
    'https://api.whatsapp.com/send?phone=442071234567',
  ],
  ['discord', 'discord_invite', 'harbour', 'https://discord.gg/harbour', 'https://discord.com/invite/harbour'],
  ['github', 'github', 'harbourbakery', 'https://github.com/harbourbakery', 'https://github.com/harbourbakery/'],
  [
    'reddit',
    'reddit_community',
    'harbourbakery',
    'https://www.reddit.com/r/harbourbakery',
    'https://old.reddit.com/r/harbourbakery/',
  ],
  [
    'snapchat',
    'snapchat',
    'harbourbakery',
    'https://www.snapchat.com/add/harbourbakery',
    'https://snapchat.com/add/harbourbakery',
  ],
  ['vimeo', 'vimeo', 'harbourbakery', 'https://vimeo.com/harbourbakery', 'http://www.vimeo.com/harbourbakery'],
  ['twitch', 'twitch', 'harbourbakery', 'https://www.twitch.tv/harbourbakery', 'https://twitch.tv/harbourbakery'],
  ['medium', 'medium_user', 'harbourbakery', 'https://medium.com/@harbourbakery', 'https://medium.com/@harbourbakery'],
  ['vk', 'vk', 'harbourbakery', 'https://vk.com/harbourbakery', 'https://m.vk.com/harbourbakery'],
  ['weibo', 'weibo', 'harbourbakery', 'https://weibo.com/harbourbakery', 'http://www.weibo.com/harbourbakery'],
  [
    'xing',
    'xing_company',
    'harbour-bakery',
    'https://www.xing.com/pages/harbour-bakery',
    'https://www.xing.com/pages/harbour-bakery',
  ],
]

/** The networks that have a row. */
export const NETWORKS: readonly string[] = KNOWN.map(([network]) => network)

const accountOf = ([network, type, username, url]: Known): Account => ({ network, type, username, url })
const accounts = (...networks: string[]): Account[] =>
  KNOWN.filter(([network]) => networks.includes(network)).map(accountOf)

const text = 'Bread and cake by the harbour.'
const link = (target: string): string => `<a href="${target}"><img src="/icon.svg" alt=""></a>`

const found = (name: string, shows: string, start: Reply, social_accounts: readonly Account[]): LabRow =>
  row(name, shows, { at: [ORCHARD], site: everywhere(start), web: { text, social_accounts } })

const oneOf = (known: Known): LabRow =>
  found(`on-${known[0]}.example`, `An account on ${known[0]}, in one spelling.`, page(text, link(known[4])), [
    accountOf(known),
  ])

const data = (value: object): string => `<script type="application/ld+json">${JSON.stringify(value)}</script>`
const inHead = (tags: string): Reply => reply(200, html(text).replace('</head>', `${tags}</head>`))

/** Links to networks that are not the site's account: shares, intents, posts, photos, help, and the site builder. */
const NO_ACCOUNTS = [
  'https://www.facebook.com/sharer/sharer.php?u=https%3A%2F%2Fshares-only.example%2F',
  'https://twitter.com/intent/tweet?text=Bread',
  'https://x.com/share?url=https://shares-only.example/',
  'https://www.linkedin.com/shareArticle?mini=true&url=https://shares-only.example/',
  'https://www.pinterest.com/pin/create/button/?url=https://shares-only.example/',
  'https://api.whatsapp.com/send?text=Bread',
  'https://t.me/share/url?url=https://shares-only.example/',
  'https://www.instagram.com/p/CxYz123abcd/',
  'https://www.youtube.com/watch?v=dQw4w9WgXcQ',
  'https://www.facebook.com/help/',
  'https://www.facebook.com/login.php',
  'https://github.com/login',
  'https://www.facebook.com/',
  'https://www.facebook.com/wix',
  'https://twitter.com/squarespace',
]

export const SOCIAL: readonly LabRow[] = [
  ...KNOWN.map(oneOf),
  found(
    'on-every-network.example',
    'An account on each network, in page order.',
    page(text, ...KNOWN.map(([, , , , written]) => link(written))),
    KNOWN.map(accountOf),
  ),
  found(
    'twice-on-one.example',
    'The same account in the head and in the footer of the page is one account.',
    page(link('https://twitter.com/harbourbakery'), text, link('https://x.com/harbourbakery?lang=en')),
    accounts('x'),
  ),
  found(
    'two-on-one.example',
    'Two accounts on one network.',
    page(text, link('https://www.instagram.com/harbourbakery/'), link('https://www.instagram.com/harbourcakes/')),
    [
      ...accounts('instagram'),
      {
        network: 'instagram',
        type: 'instagram',
        username: 'harbourcakes',
        url: 'https://www.instagram.com/harbourcakes',
      },
    ],
  ),
  found(
    'shares-only.example',
    'Links to share, sign in, see a post or get help are not accounts.',
    page(text, ...NO_ACCOUNTS.map(link)),
    [],
  ),
  found(
    'accounts-in-data.example',
    'Accounts only in JSON-LD.',
    page(
      text,
      data({
        '@context': 'https://schema.org',
        '@type': 'Bakery',
        sameAs: ['https://www.facebook.com/harbourbakery', 'https://www.instagram.com/harbourbakery/'],
      }),
    ),
    accounts('facebook', 'instagram'),
  ),
  found(
    'accounts-in-head.example',
    'Accounts only in the head: rel=me and twitter:site.',
    inHead(
      '<link rel="me" href="https://mastodon.social/@harbourbakery"><meta name="twitter:site" content="@harbourbakery">',
    ),
    [...accounts('mastodon'), ...accounts('x')],
  ),
  row('accounts-refused.example', 'A start page that denies access has no accounts and no text.', {
    at: [HARBOUR],
    site: everywhere(reply(403, html(text, link('https://x.com/harbourbakery')))),
    web: {},
  }),
  row('accounts-abroad.example', 'Accounts of the redirect target do not belong to the domain.', {
    at: [HARBOUR],
    site: redirectsTo('http://on-x.example/'),
    web: { has_website: false, redirects_to: 'on-x.example' },
  }),
]
