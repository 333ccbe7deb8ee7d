/** The rules of messengers, and of networks for developers, writers, makers and single countries. */

import { INVITE_CODE, NUMERIC_ID, type SocialNetwork, wordSet } from './account-rules.ts'

const PHONE_NUMBER = /^\d{7,15}$/

const telegram: SocialNetwork = {
  network: 'telegram',
  hosts: ['t.me', 'telegram.me', 'telegram.dog'],
  below: { type: 'telegram', path: /^([^.]+)$/, url: 'https://t.me/*' },
  username: /^[a-z]\w{3,31}$/i,
  reserved: wordSet(
    'addemoji addlist addstickers addtheme apps auth blog boost confirmphone contact faq giftcode help ' +
      'install invoice joinchat legal login msg nft privacy proxy setlanguage share socks stickers support ' +
      'telegram web',
  ),
  rules: [
    {
      type: 'telegram_invite',
      path: /^(?:joinchat\/|\+)(?!\d+$)([^/]+)$/i,
      username: /^[\w-]{10,64}$/,
      url: 'https://t.me/+*',
      exact: true,
    },
    { type: 'telegram_bot', path: /^([^/]+bot)$/i, url: 'https://t.me/*' },
    { type: 'telegram', path: /^(?:s\/)?@?([^/]+)$/i, url: 'https://t.me/*' },
  ],
}

const whatsapp: SocialNetwork = {
  network: 'whatsapp',
  hosts: ['wa.me', 'whatsapp.com', 'api.whatsapp.com', 'web.whatsapp.com'],
  username: PHONE_NUMBER,
  reserved: wordSet(''),
  rules: [
    { type: 'whatsapp', path: /^send$/i, parameter: 'phone', phone: true, url: 'https://wa.me/*' },
    { type: 'whatsapp', path: /^(?:c\/|catalog\/)?(\+?\d[\d\s().-]*)$/i, phone: true, url: 'https://wa.me/*' },
    {
      type: 'whatsapp_business',
      path: /^message\/([^/]+)$/i,
      username: INVITE_CODE,
      url: 'https://wa.me/message/*',
      exact: true,
    },
    {
      type: 'whatsapp_channel',
      path: /^channel\/([^/]+)$/i,
      username: INVITE_CODE,
      url: 'https://whatsapp.com/channel/*',
      exact: true,
    },
  ],
}

const github: SocialNetwork = {
  network: 'github',
  hosts: ['github.com'],
  username: /^[a-z\d](?:[a-z\d-]{0,37}[a-z\d])?$/i,
  reserved: wordSet(
    'about account apps blog codespaces collections contact copilot customer-stories dashboard developer ' +
      'education enterprise events explore features gist github github-copilot help home integrations issues ' +
      'join login logout marketplace mobile new nonprofit notifications open-source organizations orgs pages ' +
      'premium-support pricing pulls readme resources search security sessions settings showcases signup site ' +
      'solutions sponsors stars status support team terms topics trending users watching why-github wiki',
  ),
  rules: [{ type: 'github', path: /^(?:orgs\/)?([^/]+)$/i, url: 'https://github.com/*' }],
}

const reddit: SocialNetwork = {
  network: 'reddit',
  hosts: ['reddit.com'],
  username: /^[\w-]{2,24}$/,
  tabs: /^(?:about|best|comments|controversial|gilded|hot|new|overview|posts|rising|submitted|top|wiki)$/i,
  reserved: wordSet('me all popular random mod friends'),
  rules: [
    { type: 'reddit_user', path: /^(?:u|user)\/([^/]+)$/i, url: 'https://www.reddit.com/user/*' },
    { type: 'reddit_community', path: /^r\/([^/]+)$/i, url: 'https://www.reddit.com/r/*' },
  ],
}

const vimeo: SocialNetwork = {
  network: 'vimeo',
  hosts: ['vimeo.com'],
  username: /^(?!\d+$)[\w-]{2,60}$/,
  tabs: /^(?:videos|about|channels|albums|collections)$/i,
  reserved: wordSet(
    'about album albums api apps blog business careers categories channels cookie_policy create creators ' +
      'customers documentary enterprise event experts explore features for-hire forgot_password groups help ' +
      'home hubspot import integrations jobs join live log_in log_out login looks manage marketplace music ' +
      'ondemand ott plus premium pricing privacy pro professionals professional sales search settings showcase ' +
      'site_map solutions staffpicks stats stock store terms upgrade upload video-school video watch',
  ),
  rules: [
    { type: 'vimeo_channel', path: /^channels\/([^/]+)$/i, url: 'https://vimeo.com/channels/*' },
    { type: 'vimeo', path: /^([^/]+)$/, url: 'https://vimeo.com/*' },
  ],
}

const twitch: SocialNetwork = {
  network: 'twitch',
  hosts: ['twitch.tv'],
  username: /^\w{3,25}$/,
  tabs: /^(?:about|profile|schedule|videos)$/i,
  reserved: wordSet(
    'bits broadcast clips collections communities dashboard directory downloads drops event friends inventory ' +
      'jobs login logout messages moderator p partner popout prime products search settings signup store ' +
      'subscriptions team teams turbo user videos wallet',
  ),
  rules: [{ type: 'twitch', path: /^([^/]+)$/, url: 'https://www.twitch.tv/*' }],
}

const medium: SocialNetwork = {
  network: 'medium',
  hosts: ['medium.com'],
  below: { type: 'medium', path: /^(?!api$|blog$|help$|policy$|cdn|miro$)([^.]+)$/, url: 'https://*.medium.com/' },
  username: /^[\w.-]{2,60}$/,
  tabs: /^(?:about|followers|latest)$/i,
  reserved: wordSet(
    'about browse business creators earn explore-topics feed gift help jobs-at-medium jobs m me medium ' +
      'membership mobile-gift-plan new new-story p partner-program plans policy press r search signin signup ' +
      'stories tag topic topics verified-authors write',
  ),
  rules: [
    { type: 'medium_user', path: /^@([^/]+)$/, url: 'https://medium.com/@*' },
    { type: 'medium_user', path: /^u\/([^/]+)$/i, username: /^[\da-f]{8,16}$/, url: 'https://medium.com/u/*' },
    { type: 'medium_publication', path: /^([^/]+)$/, url: 'https://medium.com/*' },
  ],
}

const vk: SocialNetwork = {
  network: 'vk',
  hosts: ['vk.com', 'vk.ru', 'vkontakte.ru'],
  username:
    /^(?!(?:album|app|article|audio|audios|board|clips?|doc|market|members|note|page|photo|photos|podcast|poll|product|story|topic|uslugi|video|videos|wall|write)-?\d)(?!.*\.(?:php|html?)$)[\w.]{2,50}$/i,
  reserved: wordSet(
    'about ads al_im album albums app apps audio audios away badges blog board bookmarks bugs club clips dev ' +
      'developers doc docs edu event faq fave feed friends games gifts groups help id im images join jobs legal ' +
      'licence login mail market me mobile music notes page pages photo photos podcasts privacy public products ' +
      'restore search services settings share stickers stories story support terms topic video videos wall ' +
      'write',
  ),
  rules: [
    { type: 'vk_community', path: /^((?:club|public|event)\d+)$/i, url: 'https://vk.com/*' },
    { type: 'vk_profile', path: /^(id\d+)$/i, url: 'https://vk.com/*' },
    { type: 'vk', path: /^@?([^/]+)$/, url: 'https://vk.com/*' },
  ],
}

const weibo: SocialNetwork = {
  network: 'weibo',
  hosts: ['weibo.com', 'weibo.cn', 'e.weibo.com'],
  username: /^[\p{L}\p{N}_-]{3,40}$/u,
  tabs: /^(?:home|profile|info)$/i,
  reserved: wordSet(
    'a about ajax d detail f help home login logout message n newlogin p page pub search settings share ' +
      'signup status tv u ttarticle video',
  ),
  rules: [
    { type: 'weibo', path: /^u\/(\d+)$/i, username: NUMERIC_ID, url: 'https://weibo.com/u/*' },
    { type: 'weibo', path: /^(\d+)$/, username: NUMERIC_ID, url: 'https://weibo.com/u/*' },
    { type: 'weibo', path: /^n\/([^/]+)$/i, url: 'https://weibo.com/n/*' },
    { type: 'weibo', path: /^([^/]+)$/, url: 'https://weibo.com/*' },
  ],
}

const xing: SocialNetwork = {
  network: 'xing',
  hosts: ['xing.com'],
  username: /^[\p{L}\p{N}_.-]{2,100}$/u,
  reserved: wordSet(''),
  rules: [
    { type: 'xing_profile', path: /^profile\/([^/]+)(?:\/cv)?$/i, url: 'https://www.xing.com/profile/*' },
    {
      type: 'xing_company',
      path: /^(?:company|companies|pages)\/([^/]+)(?:\/about)?$/i,
      url: 'https://www.xing.com/pages/*',
    },
  ],
}

export const OTHER_NETWORKS: readonly SocialNetwork[] = [
  telegram,
  whatsapp,
  github,
  reddit,
  vimeo,
  twitch,
  medium,
  vk,
  weibo,
  xing,
]
