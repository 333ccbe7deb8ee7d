/** The rules of the largest social networks. */

import { INVITE_CODE, NUMERIC_ID, type SocialNetwork, wordSet } from './account-rules.ts'

const PINTEREST_SUFFIXES =
  'com at be ca ch cl co.kr co.uk com.au com.mx cz de dk ec es fi fr gr hu id ie in info it jp nl no nz pe ' +
  'ph pl pt ru se th tw uk us vn'

const facebook: SocialNetwork = {
  network: 'facebook',
  hosts: ['facebook.com', 'fb.com', 'fb.me', 'facebook.de', 'business.facebook.com'],
  username: /^(?!.*\.(?:php|html?|aspx?)$)[\p{L}\p{N}\p{M}._-]{2,200}$/iu,
  tabs: /^(?:about|about_\w+|c|community|followers|following|friends|home|inbox|info|likes|live_videos|map|mentions|menu|offers|photos|photos_\w+|posts|reels|reels_tab|reviews|reviews_\w+|services|shop|timeline|videos|videos_\w+)$/i,
  reserved: wordSet(
    'a ads ajax app apps badges bookmarks business campaign careers checkpoint communitystandards connect ' +
      'cookie developers dialog directory embed events feed flx friends fundraisers games gaming group groups ' +
      'hashtag help home instantgames jobs l language legal lite live login logout marketplace me media ' +
      'messages messenger mobile notes notifications p page pages people pg photo photos places plugins ' +
      'policies policy post posts privacy profile public r recover reel reels reg rsrc safety saved search ' +
      'security settings share sharer signup stories story tag terms tr translate translations ' +
      'unsupportedbrowser video videos watch wifi',
  ),
  rules: [
    {
      type: 'facebook_profile',
      path: /^profile\.php$/i,
      parameter: 'id',
      username: NUMERIC_ID,
      url: 'https://www.facebook.com/profile.php?id=*',
    },
    {
      type: 'facebook_profile',
      path: /^people\/[^/]+\/([^/]+)$/i,
      username: NUMERIC_ID,
      url: 'https://www.facebook.com/profile.php?id=*',
    },
    {
      type: 'facebook_page',
      path: /^pages\/(?!category\/)[^/]+\/([^/]+)$/i,
      username: NUMERIC_ID,
      url: 'https://www.facebook.com/*',
    },
    { type: 'facebook_page', path: /^pages\/category\/[^/]+\/([^/]+)$/i, url: 'https://www.facebook.com/*' },
    { type: 'facebook_page', path: /^p\/([^/]+-\d{5,})$/i, url: 'https://www.facebook.com/p/*' },
    { type: 'facebook_page', path: /^(?:pg\/)?([^/]+-\d{9,})$/i, url: 'https://www.facebook.com/*' },
    { type: 'facebook_page', path: /^pg\/([^/]+)$/i, url: 'https://www.facebook.com/*' },
    { type: 'facebook', path: /^@?([^/]+)$/, url: 'https://www.facebook.com/*' },
  ],
}

/** A link for writing to an account names that account. */
const messenger: SocialNetwork = {
  network: 'facebook',
  hosts: ['m.me'],
  username: facebook.username,
  reserved: facebook.reserved,
  rules: [{ type: 'facebook', path: /^@?([^/]+)$/, url: 'https://www.facebook.com/*' }],
}

const instagram: SocialNetwork = {
  network: 'instagram',
  hosts: ['instagram.com', 'instagr.am', 'ig.me'],
  username: /^(?!.*\.\.)\w[\w.]{0,28}\w$/,
  tabs: /^(?:channel|feed|followers|following|guides|igtv|reels|reposts|tagged)$/i,
  reserved: wordSet(
    '_n _u about accounts api archive challenge create developer direct directory download emails embed.js ' +
      'explore graphql help hashtag legal lite locations login nametag oembed p popular press privacy reel ' +
      'reels session share sharer sharer.php static stories support tags terms threads tv upload web',
  ),
  rules: [{ type: 'instagram', path: /^(?:_u\/|m\/)?@?([^/]+)$/i, url: 'https://www.instagram.com/*' }],
}

const x: SocialNetwork = {
  network: 'x',
  hosts: ['x.com', 'twitter.com'],
  username: /^\w{1,15}$/,
  tabs: /^(?:articles|followers|following|highlights|likes|media|superfollows|verified_followers|with_replies)$/i,
  reserved: wordSet(
    'about account accounts activity blog compose communities discover download explore favorites followers ' +
      'following goodies hashtag help home i import intent invitations jobs language lists login logout ' +
      'mentions messages newtwitter notifications oauth personalization photo privacy rules search sessions ' +
      'settings share signin signup statuses status support terms timeline tos trends url welcome who_to_follow ' +
      'widgets',
  ),
  rules: [
    { type: 'x', path: /^intent\/(?:follow|user)$/i, parameter: 'screen_name', url: 'https://x.com/*' },
    { type: 'x', path: /^@?([^/]+)$/, url: 'https://x.com/*' },
  ],
}

const linkedin: SocialNetwork = {
  network: 'linkedin',
  hosts: ['linkedin.com', 'linkedin.cn'],
  username: /^[^\s/<>"\\\p{Cc}\p{Bidi_Control}]{2,100}$/u,
  tabs: /^(?:about|admin|home|jobs|life|mycompany|people|posts|products|[a-z]{2})$/i,
  reserved: wordSet('dir home login share'),
  rules: [
    {
      type: 'linkedin_company',
      path: /^(?:mwlite\/)?company(?:-beta)?\/([^/]+)$/i,
      url: 'https://www.linkedin.com/company/*',
    },
    {
      type: 'linkedin_school',
      path: /^(?:mwlite\/)?(?:edu\/)?school\/([^/]+)$/i,
      url: 'https://www.linkedin.com/school/*',
    },
    {
      type: 'linkedin_showcase',
      path: /^(?:mwlite\/)?showcase\/([^/]+)$/i,
      url: 'https://www.linkedin.com/showcase/*',
    },
    { type: 'linkedin_profile', path: /^(?:mwlite\/)?in\/([^/]+)$/i, url: 'https://www.linkedin.com/in/*' },
    { type: 'linkedin_profile', path: /^pub\/([^/]+)(?:\/\w+){3}$/i, url: 'https://www.linkedin.com/~' },
  ],
}

const youtube: SocialNetwork = {
  network: 'youtube',
  hosts: ['youtube.com', 'gaming.youtube.com'],
  username: /^(?!.*\.php$)[\p{L}\p{N}\p{M}._·-]{2,100}$/iu,
  tabs: /^(?:about|channels|community|discussion|featured|feed|live|playlists|podcasts|posts|releases|shorts|store|streams|videos)$/i,
  reserved: wordSet(
    'about account ads attribution_link c channel channels clip copyright create creators embed feed feeds ' +
      'gaming getpremium hashtag help howyoutubeworks html5 iframe_api img intl index kids learning live ' +
      'live_chat login logout movies music my_videos news oembed oops opensearch player_api playlist playlists ' +
      'post premium press primetime privacy profile redirect reporthistory results shorts show sharing_services ' +
      'shows signin signup source sports static storefront subscribe_widget subscription_center ' +
      'subscription_manager supported_browsers t terms testtube timedtext topic trending trends tv upload user ' +
      'v verify video videos view_play_list watch yt',
  ),
  rules: [
    {
      type: 'youtube_channel',
      path: /^channel\/([^/]+)$/i,
      username: /^UC[\w-]{22}$/,
      url: 'https://www.youtube.com/channel/*',
      exact: true,
    },
    { type: 'youtube_user', path: /^user\/([^/]+)$/i, url: 'https://www.youtube.com/user/*' },
    {
      type: 'youtube_user',
      path: /^subscription_center$/i,
      parameter: 'add_user',
      url: 'https://www.youtube.com/user/*',
    },
    { type: 'youtube', path: /^c\/@?([^/]+)$/i, url: 'https://www.youtube.com/c/*' },
    { type: 'youtube', path: /^@([^/]+)$/, url: 'https://www.youtube.com/@*' },
    { type: 'youtube', path: /^([^/]+)$/, url: 'https://www.youtube.com/*' },
  ],
}

const tiktok: SocialNetwork = {
  network: 'tiktok',
  hosts: ['tiktok.com'],
  username: /^[\w.]{2,24}$/,
  reserved: wordSet('tiktok'),
  rules: [{ type: 'tiktok', path: /^@([^/]+)$/, url: 'https://www.tiktok.com/@*' }],
}

const pinterest: SocialNetwork = {
  network: 'pinterest',
  hosts: PINTEREST_SUFFIXES.split(' ').map((suffix) => `pinterest.${suffix}`),
  username: /^[\w.-]{2,60}$/,
  reserved: wordSet(
    '_ about ads all blog board business categories convert discover explore following homefeed ideas join ' +
      'link login logout news_hub notifications offsite password pin pin-builder pinterest popular privacy ' +
      'search settings share shopping signup source terms today topics url videos widgets',
  ),
  rules: [{ type: 'pinterest', path: /^([^/]+)(?:\/[^/]+)?$/, url: 'https://www.pinterest.com/*' }],
}

const threads: SocialNetwork = {
  network: 'threads',
  hosts: ['threads.net', 'threads.com'],
  username: /^[\w.]{1,30}$/,
  reserved: wordSet(''),
  rules: [{ type: 'threads', path: /^@([^/]+)$/, url: 'https://www.threads.com/@*' }],
}

const bluesky: SocialNetwork = {
  network: 'bluesky',
  hosts: ['bsky.app'],
  username: /^(?:did:[a-z]+:[\w.:-]{3,100}|[a-z\d][a-z\d-]*(?:\.[a-z\d-]+)+)$/i,
  reserved: wordSet('handle.invalid'),
  rules: [{ type: 'bluesky', path: /^profile\/@?([^/]+)$/i, url: 'https://bsky.app/profile/*' }],
}

const snapchat: SocialNetwork = {
  network: 'snapchat',
  hosts: ['snapchat.com'],
  username: /^[a-z][\w.-]{1,30}$/i,
  reserved: wordSet(''),
  rules: [
    { type: 'snapchat', path: /^add\/([^/]+)(?:\/\d+)?$/i, url: 'https://www.snapchat.com/add/*' },
    { type: 'snapchat', path: /^@([^/]+)$/, url: 'https://www.snapchat.com/add/*' },
  ],
}

const discord: SocialNetwork = {
  network: 'discord',
  hosts: ['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com'],
  username: NUMERIC_ID,
  reserved: wordSet(''),
  rules: [
    {
      type: 'discord_invite',
      path: /^invite\/([^/]+)$/i,
      username: INVITE_CODE,
      url: 'https://discord.gg/*',
      exact: true,
    },
    { type: 'discord_user', path: /^users\/([^/]+)$/i, url: 'https://discord.com/users/*' },
    { type: 'discord_server', path: /^channels\/([^/]+)(?:\/\d+)?$/i, url: 'https://discord.com/channels/*' },
  ],
}

const discordInvite: SocialNetwork = {
  network: 'discord',
  hosts: ['discord.gg'],
  username: INVITE_CODE,
  reserved: wordSet(''),
  rules: [{ type: 'discord_invite', path: /^(?:invite\/)?([^/]+)$/i, url: 'https://discord.gg/*', exact: true }],
}

/** The largest networks, whose hosts are known. */
export const LARGE_NETWORKS: readonly SocialNetwork[] = [
  facebook,
  messenger,
  instagram,
  x,
  linkedin,
  youtube,
  tiktok,
  pinterest,
  threads,
  bluesky,
  snapchat,
  discord,
  discordInvite,
]
