/** The rules of networks for music, pictures, books, questions and newsletters. */

import { NUMERIC_ID, type SocialNetwork, wordSet } from './account-rules.ts'

const ok: SocialNetwork = {
  network: 'ok',
  hosts: ['ok.ru', 'odnoklassniki.ru'],
  username: /^(?!(?:album|app|game|photo|topic|video)s?\d)[a-z\d][\w.-]{1,60}$/i,
  tabs: /^(?:about|album|albums|friends|links|live|members|market|photos|pphotos|products|statuses|topics|video)$/i,
  reserved: wordSet(
    'about album albums app apps cdk club company connect dialogs discover discovery dk education feed feeds ' +
      'game games gifts group groups guests hashtag help holidays hobby job jobs legal live login logout main ' +
      'mall market messages music news note notes notifications offer online payments photo photos poll posting ' +
      'press profile profiles promo regulations search services settings share shop soft statuses stickers team ' +
      'topic topics tv vacancies video videos videolive videos wall web-api widget',
  ),
  rules: [
    // a site of its own counts as a group here, because the network has no other kind for it
    { type: 'ok_group', path: /^group\/?(\d+)$/i, username: NUMERIC_ID, url: 'https://ok.ru/group/*' },
    { type: 'ok_profile', path: /^profile\/?(\d+)$/i, username: NUMERIC_ID, url: 'https://ok.ru/profile/*' },
    { type: 'ok_group', path: /^dk$/i, parameter: 'st.groupId', username: NUMERIC_ID, url: 'https://ok.ru/group/*' },
    { type: 'ok', path: /^(?:group\/)?([^/]+)$/, url: 'https://ok.ru/*' },
  ],
}

const tumblr: SocialNetwork = {
  network: 'tumblr',
  hosts: ['tumblr.com'],
  below: {
    type: 'tumblr',
    path: /^(?!(?:api|assets|blog|cdn|embed|engineering|help|mail|media|secure|static|support|www|\d+\.media|\d+)$)([^.]+)$/i,
    url: 'https://www.tumblr.com/*',
  },
  username: /^[a-z\d][a-z\d-]{0,31}$/i,
  tabs: /^(?:about|archive|ask|likes|following|submit)$/i,
  reserved: wordSet(
    'about abuse account activity ads advertising api app apps ask blog business changes communities create ' +
      'customize dashboard developers dmca docs domains download embed engineering events explore faq features ' +
      'follow followers following forgot_password help home iframe inbox jobs legal like likes live login ' +
      'logout marketplace mega-editor messages messaging new oauth oembed official policy post posts premium ' +
      'press privacy radar reblog recommended register safe-mode search security send settings share shop ' +
      'signup spotlight staff-picks support supported tagged terms themes tips trending tumblelog upload video ' +
      'widgets',
  ),
  rules: [
    { type: 'tumblr', path: /^(?:blog\/(?:view\/)?|follow\/)@?([^/]+)$/i, url: 'https://www.tumblr.com/*' },
    { type: 'tumblr', path: /^@?([^/]+)$/, url: 'https://www.tumblr.com/*' },
  ],
}

const soundcloud: SocialNetwork = {
  network: 'soundcloud',
  hosts: ['soundcloud.com'],
  username: /^[a-z\d_][\w-]{1,49}$/i,
  tabs: /^(?:albums|comments|followers|following|likes|popular-tracks|reposts|sets|spotlight|toptracks|tracks)$/i,
  reserved: wordSet(
    'about albums artists charts comments community-guidelines company connect creators dashboard developers ' +
      'discover download embed emails explore featured feed for for-artists forgot go groups help home imprint ' +
      'jobs legal library likes login logout me messages mobile music newsroom notifications oauth oembed pages ' +
      'passwords people playlists player popular press privacy pro search sets settings share signin signup ' +
      'stations stream tags terms terms-of-use tour tracks trending upload you',
  ),
  rules: [{ type: 'soundcloud', path: /^([^/]+)$/, url: 'https://soundcloud.com/*' }],
}

const spotify: SocialNetwork = {
  network: 'spotify',
  hosts: ['open.spotify.com', 'play.spotify.com'],
  username: /^[^\s/<>"\\\p{Cc}]{1,64}$/u,
  reserved: wordSet(''),
  rules: [
    {
      type: 'spotify_artist',
      path: /^(?:intl-[a-z]{2}(?:-[a-z]{2})?\/)?artist\/([^/]+)(?:\/(?:about|concerts|discography(?:\/all)?|playlists|related))?$/i,
      username: /^[a-z\d]{22}$/i,
      url: 'https://open.spotify.com/artist/*',
      exact: true,
    },
    {
      type: 'spotify_user',
      path: /^(?:intl-[a-z]{2}(?:-[a-z]{2})?\/)?user\/([^/]+)(?:\/(?:followers|following|playlists))?$/i,
      url: 'https://open.spotify.com/user/*',
      exact: true,
    },
  ],
}

const flickr: SocialNetwork = {
  network: 'flickr',
  hosts: ['flickr.com'],
  username: /^[a-z\d_@][\w@.-]{1,60}$/i,
  tabs: /^(?:albums|archives|collections|contacts|favorites|faves|galleries|map|sets|showcase|stats|tags|testimonials|with)$/i,
  reserved: wordSet(
    'all collections explore favorites friends friend-list interestingness me organize popular recent search ' +
      'sets share tags unprotected upload world',
  ),
  rules: [{ type: 'flickr', path: /^(?:photos|people)\/([^/]+)$/i, url: 'https://www.flickr.com/photos/*' }],
}

const linktree: SocialNetwork = {
  network: 'linktree',
  hosts: ['linktr.ee'],
  username: /^[\w.-]{1,40}$/,
  reserved: wordSet(
    'admin api blog create discover explore help jobs login logout marketplace oauth password pricing privacy ' +
      'products profile register s search settings share signup templates terms upgrade',
  ),
  rules: [{ type: 'linktree', path: /^@?([^/]+)$/, url: 'https://linktr.ee/*' }],
}

const patreon: SocialNetwork = {
  network: 'patreon',
  hosts: ['patreon.com'],
  username: /^[\p{L}\p{N}_.-]{2,64}$/u,
  tabs: /^(?:about|chats|collections|community|creators|gift|home|membership|overview|posts|shop)$/i,
  reserved: wordSet(
    'about account api apps become-creator bepatron blog brand c careers checkout collection community create ' +
      'creators cw dashboard developers discover en-us europe explore features gift help home join legal ' +
      'library login logout membership messages notifications oauth2 policy portal post posts press pricing ' +
      'privacy product products profile saved search security settings share shop signup support terms user ' +
      'users webhooks',
  ),
  rules: [
    {
      type: 'patreon_user',
      path: /^(?:user|bepatron)$/i,
      parameter: 'u',
      username: /^\d{2,12}$/,
      url: 'https://www.patreon.com/user?u=*',
    },
    { type: 'patreon', path: /^(?:c|cw|join)\/([^/]+)$/i, url: 'https://www.patreon.com/*' },
    { type: 'patreon', path: /^([^/]+)$/, url: 'https://www.patreon.com/*' },
  ],
}

const behance: SocialNetwork = {
  network: 'behance',
  hosts: ['behance.net'],
  username: /^[\w.-]{2,60}$/,
  tabs: /^(?:appreciated|assets|drafts|followers|following|info|insights|moodboards|projects|resume|services|stats)$/i,
  reserved: wordSet(
    'about account activity admin assets blog careers collection collections creative dev discover explore ' +
      'features for_you galleries gallery help hire hiring home inbox jobs joblist learn legal live login ' +
      'logout misc moodboard moodboards onboarding portfolio premium privacy pro resources search settings ' +
      'share signup subscriptions team teams terms upload users videos wip',
  ),
  rules: [{ type: 'behance', path: /^([^/]+)$/, url: 'https://www.behance.net/*' }],
}

const substack: SocialNetwork = {
  network: 'substack',
  hosts: ['substack.com', 'open.substack.com'],
  below: {
    type: 'substack',
    path: /^(?!(?:api|blog|cdn|email|enterprise|help|on|open|post|read|reader|status|support|www)$)([^.]+)$/i,
    url: 'https://*.substack.com/',
  },
  username: /^[\w-]{1,63}$/,
  tabs: /^(?:about|archive|chat|embed|likes|notes|podcast|posts|reads|recommendations|subscribe)$/i,
  reserved: wordSet(''),
  rules: [
    { type: 'substack_user', path: /^@([^/]+)$/, url: 'https://substack.com/@*' },
    { type: 'substack', path: /^pub\/([^/]+)$/i, url: 'https://*.substack.com/' },
  ],
}

const quora: SocialNetwork = {
  network: 'quora',
  hosts: ['quora.com'],
  username: /^[\p{L}\p{N}\p{M}_.'’-]{2,100}$/u,
  tabs: /^(?:about|activity|all_posts|answers|edits|followers|following|log|posts|questions|spaces|topics)$/i,
  reserved: wordSet(''),
  rules: [{ type: 'quora', path: /^profile\/([^/]+)$/i, url: 'https://www.quora.com/profile/*', exact: true }],
}

const goodreads: SocialNetwork = {
  network: 'goodreads',
  hosts: ['goodreads.com'],
  username: /^[a-z][\w-]{1,60}$/i,
  reserved: wordSet(
    'about ads advertisers api author authors blog book books buttons characters choiceawards comment ' +
      'community_reviews contact discussions ebooks event events favorite_genres featured_groups find_friends ' +
      'friend games genres giveaway giveaways group groups help home interviews jobs librarian list lists login ' +
      'message messages news new_releases notes notifications oauth poll polls press privacy questions quizzes ' +
      'quotes reading_challenges readingchallenge recommendations review search series share shelf signin ' +
      'siteinfo sitemap story support terms topic trivia update user videos work year_in_books',
  ),
  rules: [
    {
      type: 'goodreads_author',
      path: /^author\/show\/(\d+)(?:[.-][^/]*)?$/i,
      username: /^\d+$/,
      url: 'https://www.goodreads.com/author/show/*',
    },
    {
      type: 'goodreads_user',
      path: /^user\/show\/(\d+)(?:-[^/]*)?$/i,
      username: /^\d+$/,
      url: 'https://www.goodreads.com/user/show/*',
    },
    { type: 'goodreads', path: /^([^/]+)$/, url: 'https://www.goodreads.com/*' },
  ],
}

const bookbub: SocialNetwork = {
  network: 'bookbub',
  hosts: ['bookbub.com'],
  username: /^[\p{L}\p{N}_.-]{2,80}$/u,
  tabs: /^(?:books|followers|following|recommendations|reviews)$/i,
  reserved: wordSet('search sign_up trending'),
  rules: [
    { type: 'bookbub_author', path: /^authors\/([^/]+)$/i, url: 'https://www.bookbub.com/authors/*' },
    { type: 'bookbub_user', path: /^profile\/([^/]+)$/i, url: 'https://www.bookbub.com/profile/*' },
  ],
}

/** Networks for people who publish their own work. */
export const CREATOR_NETWORKS: readonly SocialNetwork[] = [
  ok,
  tumblr,
  soundcloud,
  spotify,
  flickr,
  linktree,
  patreon,
  behance,
  substack,
  quora,
  goodreads,
  bookbub,
]
