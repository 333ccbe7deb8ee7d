/** The rules of social networks: a canonical URL is read back as itself, and other links never become accounts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { socialAccountAt } from '../../../src/observe/social/account-at-url.ts'
import { CREATOR_NETWORKS } from '../../../src/observe/social/creator-networks.ts'
import { LARGE_NETWORKS } from '../../../src/observe/social/large-networks.ts'
import { OTHER_NETWORKS } from '../../../src/observe/social/other-networks.ts'

const NETWORKS = [...LARGE_NETWORKS, ...OTHER_NETWORKS, ...CREATOR_NETWORKS]
const read = (address: string) => socialAccountAt(address, 'https://site.example/')

/** Usernames, ids (a number, 22 characters), and strings that are neither. */
const plain = fc.string({ unit: fc.constantFrom(...'abcdeXYZ0159'), minLength: 2, maxLength: 20 })
const username = fc.oneof(
  plain,
  fc.string({ unit: fc.constantFrom(...'abcXYZ019._-'), minLength: 1, maxLength: 30 }),
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 5, maxLength: 16 }),
  fc.string({ unit: fc.constantFrom(...'123456789'), minLength: 11, maxLength: 11 }),
  fc.string({ unit: fc.constantFrom(...'äßéñøждю中文한글'), minLength: 3, maxLength: 20 }),
  fc.string({ unit: fc.constantFrom(...'abcXYZ019_-'), minLength: 22, maxLength: 22 }).map((code) => `UC${code}`),
  fc.string({ unit: fc.constantFrom(...'abcXYZ019'), minLength: 18, maxLength: 32 }),
  fc.string({ unit: fc.constantFrom(...'abcXYZ019'), minLength: 22, maxLength: 22 }),
  fc.tuple(plain, fc.nat()).map(([name, id]) => `${name}-1${String(id).padStart(12, '0')}`),
  plain.map((name) => `${name}.bsky.social`),
  plain.map((name) => `${name}bot`),
  fc.tuple(fc.constantFrom('club', 'public', 'event', 'id'), fc.nat()).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
)

/** Other spellings of the same URL. */
const writing = fc.record({
  scheme: fc.constantFrom('https://', 'http://', '//', 'HTTPS://'),
  end: fc.constantFrom('', '/', '#', '/#top'),
})

for (const { network, rules, below } of NETWORKS) {
  for (const rule of below === undefined ? rules : [...rules, below]) {
    test(`the URL of an account of ${network} by ${rule.path} is that account, in every spelling`, () => {
      let accounts = 0
      const property = fc.property(username, writing, (name, { scheme, end }) => {
        const found = read(rule.url.replace(/[*~]/, () => encodeURIComponent(name)))
        if (found === null) return
        accounts++
        const again = read(found.url)
        assert.deepEqual({ ...again, username: '' }, { ...found, username: '', type: again?.type })
        assert.ok(again?.type === found.type || again?.type === network, 'no other kind of account')
        assert.equal(again?.username.toLowerCase(), found.username.toLowerCase())
        const [, rest = ''] = found.url.split('https://')
        assert.equal(read(scheme + rest + (rest.includes('?') ? '' : end))?.url, found.url)
      })
      fc.assert(property, { numRuns: 400 })
      if (!rule.url.includes('~')) assert.ok(accounts > 0, 'some were accounts')
    })
  }
}

/** Sharing, signing in, posts, photos, videos, help. NAME, NUMBER and CODE are placeholders, and LINK is a URL. */
const NO_ACCOUNTS: Record<string, string> = {
  facebook: `
    facebook.com/sharer/sharer.php?u=LINK facebook.com/sharer.php?u=LINK facebook.com/share.php?u=LINK
    facebook.com/share/NAME facebook.com/share/p/CODE/ facebook.com/share/v/CODE
    facebook.com/dialog/feed?app_id=NUMBER facebook.com/dialog/share facebook.com/NAME/posts/NUMBER
    facebook.com/NAME/posts/pfbidCODE facebook.com/NAME/photos/NUMBER facebook.com/NAME/photos/a.NUMBER/NUMBER
    facebook.com/NAME/videos/NUMBER facebook.com/photo.php?fbid=NUMBER facebook.com/photo/?fbid=NUMBER
    facebook.com/permalink.php?story_fbid=NUMBER&id=NUMBER facebook.com/story.php?story_fbid=NUMBER
    facebook.com/events/NUMBER facebook.com/watch/?v=NUMBER facebook.com/watch/live/?v=NUMBER
    facebook.com/reel/NUMBER facebook.com/login/?next=LINK facebook.com/login.php facebook.com/help/NUMBER
    facebook.com/hashtag/NAME facebook.com/groups/NAME/posts/NUMBER facebook.com/groups/NUMBER/permalink/NUMBER
    facebook.com/plugins/like.php?href=LINK facebook.com/tr?id=NUMBER facebook.com/NAME/reels/NUMBER
    facebook.com/NAME/events facebook.com/media/set/?set=a.NUMBER facebook.com/marketplace/item/NUMBER
    facebook.com/policy.php facebook.com/stories/NUMBER facebook.com/v2.8/dialog/share?href=LINK
    facebook.com/ads/library/?id=NUMBER facebook.com/search/top?q=NAME facebook.com/home.php
    facebook.com/messages/t/NAME facebook.com/events/s/NAME/NUMBER facebook.com/notes/NAME/NUMBER
    facebook.com/intl/de facebook.com/r.php facebook.com/settings facebook.com/recover/initiate
    facebook.com/legal/terms facebook.com/privacy/policy facebook.com/profile.php facebook.com/business/help
    facebook.com/sharer facebook.com/groups/NAME m.me/j/CODE m.me/NAME/posts/NUMBER`,
  instagram: `
    instagram.com/p/CODE instagram.com/reel/CODE instagram.com/reels/CODE instagram.com/tv/CODE
    instagram.com/NAME/p/CODE instagram.com/NAME/reel/CODE instagram.com/stories/NAME/NUMBER
    instagram.com/stories/highlights/NUMBER instagram.com/explore/tags/NAME
    instagram.com/explore/locations/NUMBER/NAME instagram.com/accounts/login/?next=LINK
    instagram.com/sharer.php?u=LINK instagram.com/direct/inbox instagram.com/about/us instagram.com/legal/privacy
    instagram.com/developer instagram.com/share?url=LINK instagram.com/invites/contact/?i=CODE
    instagram.com/challenge/CODE instagram.com/oembed instagram.com/audio/NUMBER instagram.com/ar/NUMBER
    instagram.com/a/CODE instagram.com/embed.js instagram.com/s/CODE`,
  x: `
    x.com/intent/tweet?text=NAME x.com/intent/post?url=LINK x.com/share?url=LINK x.com/home?status=NAME
    x.com/NAME/status/NUMBER x.com/NAME/statuses/NUMBER x.com/NAME/status/NUMBER/photo/1 x.com/i/web/status/NUMBER
    x.com/i/status/NUMBER x.com/hashtag/NAME x.com/search?q=NAME x.com/login x.com/i/flow/login x.com/compose/tweet
    x.com/compose/post x.com/intent/follow x.com/settings/account x.com/tos x.com/en/privacy
    x.com/NAME/moments/NUMBER x.com/i/spaces/CODE x.com/i/events/NUMBER x.com/widgets.js x.com/oauth/authenticate
    x.com/explore x.com/statuses/NUMBER x.com/i/broadcasts/CODE x.com/signup x.com/NAME/article/NUMBER
    x.com/jobs/NUMBER x.com/download x.com/i/grok twitter.com/intent/tweet twitter.com/share
    twitter.com/NAME/status/NUMBER help.twitter.com/en business.twitter.com/en platform.twitter.com/widgets.js
    pic.twitter.com/CODE analytics.x.com/NAME developer.x.com/en ads.x.com/NAME publish.twitter.com/oembed`,
  linkedin: `
    linkedin.com/shareArticle?mini=true&url=LINK linkedin.com/sharing/share-offsite/?url=LINK
    linkedin.com/cws/share?url=LINK linkedin.com/feed/update/urn:li:activity:NUMBER
    linkedin.com/posts/NAME_activity-NUMBER linkedin.com/pulse/NAME linkedin.com/jobs/view/NUMBER linkedin.com/login
    linkedin.com/uas/login linkedin.com/help/linkedin linkedin.com/learning/NAME
    linkedin.com/company/NAME/posts/NUMBER linkedin.com/feed/hashtag/NAME
    linkedin.com/embed/feed/update/urn:li:share:NUMBER linkedin.com/in/NAME/recent-activity/all linkedin.com/signup
    linkedin.com/legal/privacy-policy linkedin.com/events/NUMBER linkedin.com/newsletters/NAME-NUMBER
    linkedin.com/video/live/urn linkedin.com/company/NAME/jobs/NUMBER/x linkedin.com/oauth/v2/authorization
    linkedin.com/today/posts/NAME linkedin.com/redir/redirect?url=LINK linkedin.com/company linkedin.com/in
    linkedin.com/in/NAME/detail/NAME linkedin.com/checkpoint/lg/login linkedin.com/authwall?trk=NAME
    linkedin.com/search/results/all linkedin.com/sales/people/CODE business.linkedin.com/NAME
    linkedin.com/company/setup/new linkedin.com/groups`,
  youtube: `
    youtube.com/watch?v=CODE youtube.com/embed/CODE youtube.com/v/CODE youtube.com/shorts/CODE youtube.com/live/CODE
    youtube.com/playlist?list=CODE youtube.com/results?search_query=NAME youtube.com/hashtag/NAME
    youtube.com/redirect?q=LINK youtube.com/feed/subscriptions youtube.com/signin youtube.com/t/terms
    youtube.com/channel/NAME youtube.com/user youtube.com/iframe_api youtube.com/post/CODE youtube.com/clip/CODE
    youtube.com/NAME/videos/CODE youtube.com/c/NAME/community/CODE youtu.be/CODE youtube.com/attribution_link?u=LINK
    music.youtube.com/watch?v=CODE youtube.com/account youtube.com/about youtube.com/premium
    youtube.com/source/CODE/shorts youtube.com/subscribe_widget youtube.com/embed?listType=CODE
    youtube.com/sharing_services youtube.com/ads studio.youtube.com/channel/CODE`,
  tiktok: `
    tiktok.com/@NAME/video/NUMBER tiktok.com/@NAME/photo/NUMBER tiktok.com/@NAME/live tiktok.com/tag/NAME
    tiktok.com/discover/NAME tiktok.com/music/NAME-NUMBER tiktok.com/embed/NUMBER tiktok.com/share/video
    tiktok.com/login tiktok.com/t/CODE vm.tiktok.com/CODE tiktok.com/share?url=LINK tiktok.com/legal/privacy-policy
    tiktok.com/foryou tiktok.com/v/NUMBER.html tiktok.com/upload tiktok.com/@NAME/playlist/NAME-NUMBER
    ads.tiktok.com/NAME`,
  pinterest: `
    pinterest.com/pin/NUMBER pinterest.com/pin/create/button/?url=LINK pinterest.com/pin/create/link/
    pinterest.com/pin/create/bookmarklet pinterest.com/search/pins/?q=NAME pinterest.com/login
    pinterest.com/ideas/NAME/NUMBER pinterest.com/categories/NAME pinterest.com/explore/NAME
    pinterest.com/today/best/NAME/NUMBER pinterest.com/settings pinterest.com/pin-builder
    pinterest.com/business/create pinterest.com/_/_/help pinterest.com/videos/NAME pin.it/CODE
    assets.pinterest.com/js/pinit.js pinterest.com/about/terms business.pinterest.com/NAME help.pinterest.com/en
    policy.pinterest.com/en`,
  threads: `
    threads.net/@NAME/post/CODE threads.net/intent/post?text=NAME threads.net/t/CODE threads.net/login
    threads.net/search?q=NAME threads.com/share?url=LINK threads.com/NAME threads.com/legal`,
  bluesky: `
    bsky.app/profile/NAME.bsky.social/post/CODE bsky.app/intent/compose?text=NAME bsky.app/search?q=NAME
    bsky.app/hashtag/NAME bsky.app/profile/NAME.bsky.social/feed/CODE bsky.app/profile/NAME.bsky.social/lists/CODE
    bsky.app/settings bsky.app/starter-pack/NAME.bsky.social/CODE bsky.app/login bsky.app/support/tos
    bsky.app/profile`,
  mastodon: `
    mastodon.social/@NAME/NUMBER mastodon.social/share?text=NAME mastodon.social/interact/NUMBER
    mastodon.social/auth/sign_in mastodon.social/about mastodon.social/tags/NAME
    mastodon.social/users/NAME/statuses/NUMBER mastodon.social/explore mastodon.social/@NAME@other.example/NUMBER
    mastodon.social/authorize_interaction?uri=LINK mastodon.social/media/CODE mastodon.social/public/local
    mastodon.social/@NAME/tagged/NAME`,
  telegram: `
    t.me/share/url?url=LINK t.me/share?url=LINK t.me/NAME/NUMBER t.me/s/NAME/NUMBER t.me/c/NUMBER/NUMBER
    t.me/addstickers/NAME t.me/proxy?server=NAME t.me/iv?url=LINK t.me/login t.me/socks?server=NAME
    t.me/addtheme/NAME t.me/bg/CODE t.me/setlanguage/NAME t.me/invoice/CODE t.me/giftcode/CODE
    telegram.me/share/url?url=LINK t.me/contact/CODE t.me/boost/NAME t.me/m/CODE t.me/addlist/CODE
    t.me/nft/NAME-NUMBER t.me/NAME/s/NUMBER`,
  whatsapp: `
    wa.me/?text=NAME api.whatsapp.com/send?text=NAME api.whatsapp.com/send/?text=NAME&type=custom_url
    whatsapp.com/download whatsapp.com/legal web.whatsapp.com/send?text=NAME whatsapp.com/dl whatsapp.com/contact
    wa.me/settings wa.me/share wa.me/pay/NAME whatsapp.com/business`,
  discord: `
    discord.com/channels/@me discord.com/login discord.com/oauth2/authorize?client_id=NUMBER
    discord.com/api/oauth2/authorize discord.com/api/webhooks/NUMBER/CODE discord.com/terms discord.com/download
    discord.com/developers/docs discord.com/nitro discord.com/register discord.com/application-directory/NUMBER
    discord.com/invite discord.com/channels/NUMBER/NUMBER/NUMBER discord.com/blog/NAME
    cdn.discordapp.com/icons/NUMBER/CODE.png discord.com/servers/NAME-NUMBER discord.com/privacy`,
  github: `
    github.com/NAME/NAME github.com/NAME/NAME/issues/NUMBER github.com/login/oauth/authorize github.com/login
    github.com/sponsors/NAME github.com/NAME/NAME/blob/main/NAME.md github.com/topics/NAME github.com/search?q=NAME
    github.com/features/actions github.com/apps/NAME github.com/marketplace/NAME github.com/orgs/NAME/repositories
    github.com/contact gist.github.com/NAME/CODE github.com/NAME/NAME/discussions/NUMBER github.com/join
    github.com/signup github.com/site/terms github.com/security raw.github.com/NAME/NAME docs.github.com/en
    github.com/collections/NAME`,
  reddit: `
    reddit.com/submit?url=LINK reddit.com/r/NAME/comments/CODE/NAME reddit.com/user/NAME/comments/CODE
    reddit.com/login reddit.com/comments/CODE reddit.com/r/NAME/submit reddit.com/search?q=NAME
    reddit.com/r/NAME/s/CODE redd.it/CODE reddit.com/r/all reddit.com/r/popular reddit.com/static/button
    reddit.com/register reddit.com/gallery/CODE reddit.com/message/compose/?to=NAME reddit.com/poll/CODE
    reddit.com/media?url=LINK reddit.com/r/NAME/wiki/index reddit.com/wiki/NAME`,
  snapchat: `
    snapchat.com/scan?attachmentUrl=LINK snapchat.com/spotlight/CODE snapchat.com/lens/CODE
    snapchat.com/discover/NAME/NUMBER snapchat.com/p/CODE snapchat.com/t/CODE snapchat.com/unlock/?type=SNAPCODE
    story.snapchat.com/s/NAME snapchat.com/login accounts.snapchat.com/NAME snapchat.com/@NAME/spotlight/CODE
    snapchat.com/@NAME/highlight/CODE snapchat.com/privacy snapchat.com/share?link=LINK snapchat.com/download`,
  vimeo: `
    vimeo.com/NUMBER vimeo.com/NUMBER/CODE vimeo.com/NAME/NUMBER vimeo.com/channels/NAME/NUMBER
    vimeo.com/groups/NAME/videos/NUMBER player.vimeo.com/video/NUMBER vimeo.com/video/NUMBER vimeo.com/album/NUMBER
    vimeo.com/showcase/NUMBER vimeo.com/ondemand/NAME vimeo.com/log_in vimeo.com/join vimeo.com/event/NUMBER
    vimeo.com/upgrade vimeo.com/help vimeo.com/share/NUMBER vimeo.com/manage/videos/NUMBER vimeo.com/search?q=NAME
    vimeo.com/channels/staffpicks/NUMBER vimeo.com/terms vimeo.com/staffpicks vimeo.com/user/NUMBER/folder/NUMBER
    vimeo.com/ott/NAME`,
  twitch: `
    twitch.tv/videos/NUMBER twitch.tv/NAME/clip/CODE twitch.tv/NAME/v/NUMBER twitch.tv/login
    twitch.tv/directory/game/NAME twitch.tv/p/legal player.twitch.tv/?channel=NAME clips.twitch.tv/CODE
    twitch.tv/signup twitch.tv/settings/profile twitch.tv/downloads twitch.tv/jobs twitch.tv/subs/NAME
    twitch.tv/popout/NAME/chat twitch.tv/embed/NAME/chat twitch.tv/collections/CODE help.twitch.tv/NAME
    twitch.tv/search?term=NAME twitch.tv/products/NAME twitch.tv/team/NAME`,
  medium: `
    medium.com/@NAME/some-post-CODE medium.com/NAME/some-post-CODE medium.com/p/CODE medium.com/m/signin
    medium.com/tag/NAME medium.com/search?q=NAME medium.com/new-story medium.com/about
    medium.com/@NAME/list/reading-CODE medium.com/m/global-identity?redirectUrl=LINK medium.com/policy/NAME
    medium.com/membership medium.com/topic/NAME medium.com/_/stat?event=NAME help.medium.com/hc medium.com/creators
    medium.com/plans medium.com/signin medium.com/cdn-cgi/NAME medium.com/jobs-at-medium/NAME`,
  vk: `
    vk.com/share.php?url=LINK vk.com/wall-NUMBER_NUMBER vk.com/wallNUMBER_NUMBER vk.com/photo-NUMBER_NUMBER
    vk.com/photoNUMBER_NUMBER vk.com/video-NUMBER_NUMBER vk.com/videoNUMBER_NUMBER vk.com/videos-NUMBER
    vk.com/album-NUMBER_NUMBER vk.com/albums-NUMBER vk.com/albumNUMBER_0 vk.com/topic-NUMBER_NUMBER
    vk.com/doc-NUMBER_NUMBER vk.com/docNUMBER_NUMBER vk.com/appNUMBER vk.com/appNUMBER_-NUMBER
    vk.com/clip-NUMBER_NUMBER vk.com/clips-NUMBER vk.com/market-NUMBER vk.com/product-NUMBER_NUMBER
    vk.com/write-NUMBER vk.com/writeNUMBER vk.com/write vk.com/im?sel=-NUMBER vk.com/away.php?to=LINK vk.com/feed
    vk.com/login vk.com/search?c=NAME vk.com/al_feed.php vk.com/poll-NUMBER_NUMBER vk.com/story-NUMBER_NUMBER
    vk.com/stories-NUMBER vk.com/audio-NUMBER_NUMBER vk.com/audios-NUMBER vk.com/music/album/NUMBER
    vk.com/podcast-NUMBER_NUMBER vk.com/@NAME-some-article vk.com/page-NUMBER_NUMBER vk.com/widget_community.php
    oauth.vk.com/authorize vk.com/board-NUMBER vk.com/boardNUMBER vk.com/event vk.com/gifts vk.com/friends
    vk.com/terms vk.com/support vk.com/dev/NAME vk.com/albums vk.com/photos vk.com/uslugi-NUMBER vk.com/app
    vk.com/mail vk.com/stickers vk.com/badges vk.com/videos-NUMBER?z=video vk.com/photos-NUMBER vk.com/tag-NUMBER
    vk.com/membersNUMBER vk.com/clips`,
  weibo: `
    weibo.com/NUMBER/CODE weibo.com/share?url=LINK service.weibo.com/share/share.php?url=LINK
    v.t.sina.com.cn/share/share.php weibo.com/login.php weibo.com/tv/show/NUMBER:NUMBER
    weibo.com/ttarticle/p/show?id=NUMBER weibo.com/detail/NUMBER weibo.com/p/NUMBER weibo.com/a/hot/NAME
    weibo.com/signup/signup.php m.weibo.cn/status/NUMBER m.weibo.cn/detail/NUMBER weibo.com/newlogin
    weibo.com/search weibo.com/ajax/statuses s.weibo.com/weibo/NAME passport.weibo.com/NAME`,
  ok: `
    ok.ru/feed ok.ru/dk?st.cmd=addShare&st._surl=LINK connect.ok.ru/offer?url=LINK ok.ru/video/NUMBER
    ok.ru/videoembed/NUMBER ok.ru/profile/NUMBER/statuses/NUMBER ok.ru/group/NUMBER/topic/NUMBER ok.ru/game/NAME
    ok.ru/search?st.query=NAME ok.ru/music ok.ru/live/NUMBER ok.ru/regulations ok.ru/profile/NUMBER/pphotos/NUMBER
    ok.ru/share?url=LINK ok.ru/topic/NUMBER ok.ru/NAME/topic/NUMBER ok.ru/help/NUMBER/1`,
  tumblr: `
    tumblr.com/share?v=3&u=LINK tumblr.com/share/link?url=LINK tumblr.com/widgets/share/tool?canonicalUrl=LINK
    NAME.tumblr.com/post/NUMBER/NAME tumblr.com/NAME/NUMBER/NAME tumblr.com/tagged/NAME tumblr.com/search/NAME
    tumblr.com/login tumblr.com/register tumblr.com/dashboard tumblr.com/reblog/NAME/NUMBER/CODE
    tumblr.com/blog/view/NAME/NUMBER api.tumblr.com/v2 assets.tumblr.com/CODE.js tumblr.com/explore`,
  soundcloud: `
    soundcloud.com/NAME/NAME-track soundcloud.com/NAME/sets/NAME soundcloud.com/discover soundcloud.com/search?q=NAME
    soundcloud.com/upload on.soundcloud.com/CODE w.soundcloud.com/player/?url=LINK api.soundcloud.com/tracks/NUMBER
    soundcloud.com/signin soundcloud.com/tags/NAME soundcloud.com/charts/top soundcloud.com/pages/contact`,
  spotify: `
    open.spotify.com/track/CODE open.spotify.com/album/CODE open.spotify.com/playlist/CODE open.spotify.com/show/CODE
    open.spotify.com/episode/CODE open.spotify.com/user/NAME/playlist/CODE open.spotify.com/embed/artist/CODE
    open.spotify.com/search/NAME spotify.com/signup open.spotify.com/artist/NAME open.spotify.com/genre/NAME`,
  flickr: `
    flickr.com/photos/NAME/NUMBER flickr.com/photos/NAME/sets/NUMBER flickr.com/photos/tags/NAME flickr.com/groups/NAME
    flickr.com/explore flickr.com/search/?q=NAME flickr.com/photos/NAME/albums/NUMBER flickr.com/signup flic.kr/p/CODE
    flickr.com/photos/upload`,
  linktree: `
    linktr.ee/login linktr.ee/register linktr.ee/s/about linktr.ee/NAME/shop/CODE linktr.ee/discover/trending
    linktr.ee/admin linktr.ee/pricing`,
  patreon: `
    patreon.com/posts/NAME-NUMBER patreon.com/login patreon.com/signup patreon.com/policy patreon.com/NAME/posts/NUMBER
    patreon.com/user patreon.com/search?q=NAME patreon.com/home patreon.com/collection/NUMBER patreon.com/NAME/shop/NAME
    patreon.com/checkout/NAME patreon.com/oauth2/authorize patreon.com/bePatron patreon.com/c`,
  behance: `
    behance.net/gallery/NUMBER/NAME behance.net/search/projects behance.net/joblist behance.net/galleries/NAME
    behance.net/NAME/moodboard/NUMBER behance.net/live/NAME behance.net/collection/NUMBER/NAME behance.net/login`,
  substack: `
    NAME.substack.com/p/NAME open.substack.com/pub/NAME/p/NAME substack.com/@NAME/note/c-NUMBER substack.com/home
    substack.com/inbox substack.com/signup substack.com/sign-in on.substack.com/p/NAME substack.com/discover
    substack.com/search/NAME substack.com/app-link/post?publication_id=NUMBER`,
  quora: `
    quora.com/NAME-question quora.com/q/NAME quora.com/topic/NAME quora.com/share?url=LINK quora.com/search?q=NAME
    quora.com/profile/NAME/NAME-answer quora.com/about/tos NAME.quora.com/NAME quora.com/unanswered/NAME`,
  goodreads: `
    goodreads.com/book/show/NUMBER.NAME goodreads.com/review/show/NUMBER goodreads.com/list/show/NUMBER
    goodreads.com/search?q=NAME goodreads.com/author/list/NUMBER goodreads.com/quotes/NUMBER goodreads.com/group/show/NUMBER
    goodreads.com/series/NUMBER goodreads.com/user/sign_in goodreads.com/book/isbn/NUMBER goodreads.com/genres/NAME
    goodreads.com/review/list/NUMBER goodreads.com/giveaway/show/NUMBER goodreads.com/share?url=LINK`,
  bookbub: `
    bookbub.com/books/NAME-by-NAME bookbub.com/search?search=NAME bookbub.com/users/sign_in bookbub.com/blog/NAME
    bookbub.com/reviews/NUMBER bookbub.com/ebook-deals bookbub.com/welcome`,
  xing: `
    xing.com/spi/shares/new?url=LINK xing.com/app/user?op=share;url=LINK xing.com/social_plugins/share?url=LINK
    xing.com/news/articles/NAME-NUMBER xing.com/jobs/NAME-NUMBER xing.com/events/NAME-NUMBER xing.com/login
    xing.com/signup xing.com/discover xing.com/help xing.com/communities/posts/NAME-NUMBER
    xing.com/news/insiders/articles/NAME xing.com/share xing.com/company/NAME/jobs xing.com/app/share`,
}

const LINK = 'https%3A%2F%2Fexample.com%2Fpage'

test('links for sharing, signing in, posts, photos, videos and help are not accounts, whatever they contain', () => {
  const rows = Object.values(NO_ACCOUNTS).flatMap((text) => text.trim().split(/\s+/))
  const filled = fc.record({
    name: fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 4, maxLength: 12 }),
    number: fc.integer({ min: 100_000, max: 2 ** 45 }),
    code: fc
      .string({ unit: fc.constantFrom(...'abcXYZ019_-'), minLength: 9, maxLength: 12 })
      .map((code) => `C${code}x`),
    start: fc.constantFrom('https://www.', 'https://m.', 'http://', '//'),
    end: fc.constantFrom('', '/'),
  })
  const property = fc.property(filled, ({ name, number, code, start, end }) => {
    for (const row of rows) {
      const path = row.replaceAll('NAME', name).replaceAll('NUMBER', String(number)).replaceAll('CODE', code)
      const address = start + path.replaceAll('LINK', LINK) + (row.includes('?') ? '' : end)
      assert.equal(read(address), null, address)
    }
  })
  fc.assert(property, { numRuns: 30 })
})
