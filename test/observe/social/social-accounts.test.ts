/** Which URLs on a start page are social accounts, and their usernames. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { socialAccounts } from '../../../src/observe/observe.ts'
import { socialAccountAt } from '../../../src/observe/social/account-at-url.ts'
import type { StartPageLink } from '../../../src/probe/probe-result.ts'
import { anchor, DOMAIN, name, page } from '../probe-results.ts'

const BASE = 'https://example.com/'
const read = (address: string) => socialAccountAt(address, BASE)

/** For each account: the address of a link, the type, the username, and the URL of the account. */
const ACCOUNTS = `
  https://m.me/Some.Page facebook Some.Page https://www.facebook.com/some.page
  https://www.facebook.com/Some.Page facebook Some.Page https://www.facebook.com/some.page
  https://de-de.facebook.com/some.page/?ref=ts facebook some.page https://www.facebook.com/some.page
  https://www.facebook.com/some.page/about facebook some.page https://www.facebook.com/some.page
  http://fb.com/some.page facebook some.page https://www.facebook.com/some.page
  https://facebook.com/#!/some.page facebook some.page https://www.facebook.com/some.page
  https://www.facebook.com/profile.php?id=100001 facebook_profile 100001 https://www.facebook.com/profile.php?id=100001
  https://www.facebook.com/people/Ann-B/100001/ facebook_profile 100001 https://www.facebook.com/profile.php?id=100001
  https://www.facebook.com/pages/Some-Page/12345678 facebook_page 12345678 https://www.facebook.com/12345678
  https://www.facebook.com/Some-Page-123456789012/ facebook_page Some-Page-123456789012
    https://www.facebook.com/some-page-123456789012
  https://www.facebook.com/pg/some.page/posts/ facebook_page some.page https://www.facebook.com/some.page
  https://www.facebook.com/Größe facebook Größe https://www.facebook.com/gr%C3%B6%C3%9Fe
  http://instagram.com/Some.One?igshid=1 instagram Some.One https://www.instagram.com/some.one
  https://instagr.am/some_one/ instagram some_one https://www.instagram.com/some_one
  https://x.com/intent/user?screen_name=SomeOne x SomeOne https://x.com/someone
  https://twitter.com/intent/follow?ref=x&screen_name=SomeOne x SomeOne https://x.com/someone
  https://twitter.com/@Some_One x Some_One https://x.com/some_one
  https://mobile.twitter.com/some_one?lang=en x some_one https://x.com/some_one
  http://twitter.com/#!/some_one x some_one https://x.com/some_one
  //x.com/some_one/ x some_one https://x.com/some_one
  https://x.com./some_one x some_one https://x.com/some_one
  https://de.linkedin.com/company/Some-Co/about/ linkedin_company Some-Co https://www.linkedin.com/company/some-co
  https://www.linkedin.com/school/some-school linkedin_school some-school https://www.linkedin.com/school/some-school
  https://www.linkedin.com/showcase/some-brand/ linkedin_showcase some-brand
    https://www.linkedin.com/showcase/some-brand
  https://linkedin.com/in/some-one/de linkedin_profile some-one https://www.linkedin.com/in/some-one
  https://www.linkedin.com/pub/some-one/a/1/2b linkedin_profile some-one https://www.linkedin.com/pub/some-one/a/1/2b
  https://www.youtube.com/channel/UC3y00Z1zFPc-8Z9xg8ydC-A/videos youtube_channel UC3y00Z1zFPc-8Z9xg8ydC-A
    https://www.youtube.com/channel/UC3y00Z1zFPc-8Z9xg8ydC-A
  https://youtube.com/user/SomeOne?sub_confirmation=1 youtube_user SomeOne https://www.youtube.com/user/someone
  https://m.youtube.com/@SomeOne youtube SomeOne https://www.youtube.com/@someone
  https://www.youtube.com/c/SomeOne/featured youtube SomeOne https://www.youtube.com/c/someone
  https://www.youtube.com/someone youtube someone https://www.youtube.com/someone
  https://www.tiktok.com/@some.one?lang=de tiktok some.one https://www.tiktok.com/@some.one
  https://www.pinterest.co.uk/someone/ pinterest someone https://www.pinterest.com/someone
  https://de.pinterest.com/someone/a-board/ pinterest someone https://www.pinterest.com/someone
  https://www.threads.net/@some.one threads some.one https://www.threads.com/@some.one
  https://bsky.app/profile/someone.bsky.social bluesky someone.bsky.social https://bsky.app/profile/someone.bsky.social
  https://bsky.app/profile/did:plc:abc123 bluesky did:plc:abc123 https://bsky.app/profile/did:plc:abc123
  https://mastodon.social/@SomeOne mastodon SomeOne@mastodon.social https://mastodon.social/@someone
  https://fosstodon.org/users/someone mastodon someone@fosstodon.org https://fosstodon.org/@someone
  https://chaos.social/@someone@mstdn.example mastodon someone@mstdn.example https://mstdn.example/@someone
  https://ok.ru/group/53986557493390/topics ok_group 53986557493390 https://ok.ru/group/53986557493390
  https://m.ok.ru/group53717371453505 ok_group 53717371453505 https://ok.ru/group/53717371453505
  https://ok.ru/profile/580123456789/ ok_profile 580123456789 https://ok.ru/profile/580123456789
  https://www.ok.ru/Some.One ok Some.One https://ok.ru/some.one
  https://ok.ru/group/someone/ ok someone https://ok.ru/someone
  https://m.ok.ru/dk?st.cmd=altGroupMain&st.groupId=52964828971137 ok_group 52964828971137
    https://ok.ru/group/52964828971137
  https://Some-One.tumblr.com/ tumblr some-one https://www.tumblr.com/some-one
  https://some-one.tumblr.com/archive tumblr some-one https://www.tumblr.com/some-one
  https://www.tumblr.com/blog/view/some-one tumblr some-one https://www.tumblr.com/some-one
  https://www.tumblr.com/@some-one tumblr some-one https://www.tumblr.com/some-one
  https://soundcloud.com/Some-One/tracks soundcloud Some-One https://soundcloud.com/some-one
  https://m.soundcloud.com/some_one soundcloud some_one https://soundcloud.com/some_one
  https://open.spotify.com/intl-de/artist/0OdUWJ0sBjDrqHygGUXeCF?si=x spotify_artist 0OdUWJ0sBjDrqHygGUXeCF
    https://open.spotify.com/artist/0OdUWJ0sBjDrqHygGUXeCF
  https://open.spotify.com/user/some.one spotify_user some.one https://open.spotify.com/user/some.one
  https://www.flickr.com/photos/Some_One/albums flickr Some_One https://www.flickr.com/photos/some_one
  https://flickr.com/people/12345678@N00/ flickr 12345678@N00 https://www.flickr.com/photos/12345678@n00
  https://linktr.ee/Some.One linktree Some.One https://linktr.ee/some.one
  https://www.patreon.com/c/SomeOne/posts patreon SomeOne https://www.patreon.com/someone
  https://patreon.com/join/someone patreon someone https://www.patreon.com/someone
  https://www.patreon.com/bePatron?u=123456 patreon_user 123456 https://www.patreon.com/user?u=123456
  https://www.behance.net/SomeOne/projects behance SomeOne https://www.behance.net/someone
  https://someone.substack.com/ substack someone https://someone.substack.com/
  https://someone.substack.com/subscribe?utm_source=x substack someone https://someone.substack.com/
  https://open.substack.com/pub/someone substack someone https://someone.substack.com/
  https://substack.com/@someone substack_user someone https://substack.com/@someone
  https://www.quora.com/profile/Some-One-1/answers quora Some-One-1 https://www.quora.com/profile/Some-One-1
  https://www.goodreads.com/author/show/12345.Some_One goodreads_author 12345
    https://www.goodreads.com/author/show/12345
  https://www.goodreads.com/user/show/12345-some-one goodreads_user 12345 https://www.goodreads.com/user/show/12345
  https://www.goodreads.com/SomeOne goodreads SomeOne https://www.goodreads.com/someone
  https://www.bookbub.com/authors/Some-One bookbub_author Some-One https://www.bookbub.com/authors/some-one
  https://www.bookbub.com/profile/some-one bookbub_user some-one https://www.bookbub.com/profile/some-one
  https://t.me/some_one telegram some_one https://t.me/some_one
  https://telegram.me/s/some_one telegram some_one https://t.me/some_one
  https://some_one.t.me telegram some_one https://t.me/some_one
  tg://resolve?domain=some_one telegram some_one https://t.me/some_one
  https://t.me/SomeBot telegram_bot SomeBot https://t.me/somebot
  https://t.me/joinchat/AAAAbbbb1234_-xy telegram_invite AAAAbbbb1234_-xy https://t.me/+AAAAbbbb1234_-xy
  https://wa.me/+49%20151-0000000 whatsapp 491510000000 https://wa.me/491510000000
  https://wa.me/491510000000?text=Hi whatsapp 491510000000 https://wa.me/491510000000
  https://api.whatsapp.com/send/?phone=%2B49%20151-0000000&text=Hi whatsapp 491510000000 https://wa.me/491510000000
  whatsapp://send?phone=491510000000 whatsapp 491510000000 https://wa.me/491510000000
  https://wa.me/message/ABC123 whatsapp_business ABC123 https://wa.me/message/ABC123
  https://www.whatsapp.com/channel/0029VaAbC whatsapp_channel 0029VaAbC https://whatsapp.com/channel/0029VaAbC
  https://discord.gg/AbC12 discord_invite AbC12 https://discord.gg/AbC12
  https://discordapp.com/invite/AbC12 discord_invite AbC12 https://discord.gg/AbC12
  https://discord.com/users/123456789 discord_user 123456789 https://discord.com/users/123456789
  https://discord.com/channels/123456/789 discord_server 123456 https://discord.com/channels/123456
  https://github.com/Some-One/ github Some-One https://github.com/some-one
  https://old.reddit.com/u/some_one/ reddit_user some_one https://www.reddit.com/user/some_one
  https://www.reddit.com/r/Some/ reddit_community Some https://www.reddit.com/r/some
  https://www.snapchat.com/add/some-one snapchat some-one https://www.snapchat.com/add/some-one
  https://vimeo.com/user123 vimeo user123 https://vimeo.com/user123
  https://vimeo.com/channels/some vimeo_channel some https://vimeo.com/channels/some
  https://www.twitch.tv/Some_One/videos twitch Some_One https://www.twitch.tv/some_one
  https://medium.com/@some.one medium_user some.one https://medium.com/@some.one
  https://some.medium.com/ medium some https://some.medium.com/
  https://medium.com/some-publication medium_publication some-publication https://medium.com/some-publication
  https://m.vk.com/some.one vk some.one https://vk.com/some.one
  http://vkontakte.ru/club123 vk_community club123 https://vk.com/club123
  https://vk.com/id123 vk_profile id123 https://vk.com/id123
  https://weibo.com/u/1234567890 weibo 1234567890 https://weibo.com/u/1234567890
  https://weibo.com/1234567890 weibo 1234567890 https://weibo.com/u/1234567890
  https://www.weibo.com/someone weibo someone https://weibo.com/someone
  https://www.xing.com/profile/Some_One5 xing_profile Some_One5 https://www.xing.com/profile/some_one5
  https://www.xing.com/companies/some xing_company some https://www.xing.com/pages/some
`.matchAll(/(\S+)\s+(\S+)\s+(\S+)\s+(\S+)/g)

for (const [, address = '', type = '', username = '', url] of ACCOUNTS) {
  const [network] = type.split('_')
  test(`${address} is an account of ${network}: ${type} ${username}`, () => {
    assert.deepEqual(read(address), { network, type, username, url })
  })
}

const NO_ACCOUNTS = `
  https://www.facebook.com/ https://www.facebook.com/sharer.php?u=x https://www.facebook.com/sharer/sharer.php?u=x
  https://www.facebook.com/share/abc https://www.facebook.com/dialog/feed?app_id=1 https://www.facebook.com/login.php?next=x
  https://www.facebook.com/photo.php?fbid=1 https://www.facebook.com/some/photos/1 https://www.facebook.com/some/posts/1
  https://www.facebook.com/watch/?v=1 https://www.facebook.com/events/1 https://www.facebook.com/hashtag/a
  https://www.facebook.com/help https://www.facebook.com/plugins/page.php?href=x https://www.facebook.com/profile.php
  https://www.instagram.com/p/abc/ https://www.instagram.com/reel/abc/ https://www.instagram.com/explore/tags/a/
  https://www.instagram.com/accounts/login/?next=/some/ https://www.instagram.com/stories/some/1 https://instagram.com/a..b
  https://twitter.com/intent/tweet?text=x https://twitter.com/share https://x.com/some/status/1 https://x.com/search?q=a
  https://x.com/i/lists/1 https://twitter.com/hashtag/a https://twitter.com/home https://x.com/a_name_far_too_long_
  https://www.linkedin.com/shareArticle?url=x https://www.linkedin.com/sharing/share-offsite/?url=x
  https://www.linkedin.com/feed/update/urn:li:activity:1/ https://www.linkedin.com/posts/some_1 https://www.linkedin.com/jobs/
  https://www.linkedin.com/company/ https://www.youtube.com/watch?v=abc https://youtu.be/abc https://www.youtube.com/embed/abc
  https://www.youtube.com/playlist?list=a https://www.youtube.com/shorts/abc https://www.youtube.com/results?search_query=a
  https://www.youtube.com/channel/nonsense https://www.youtube.com/c/ https://www.youtube.com/t/terms
  https://www.tiktok.com/@some/video/1 https://vm.tiktok.com/abc/ https://www.tiktok.com/embed/1
  https://www.pinterest.com/pin/1/ https://www.pinterest.com/pin/create/button/?url=x https://www.threads.net/@some/post/1
  https://bsky.app/profile/some.bsky.social/post/1 https://bsky.app/intent/compose?text=x https://mastodon.social/share?text=x
  https://mastodon.social/@some/1 https://unknown.example/@some https://t.me/share/url?url=x https://t.me/some_one/12
  https://t.me/addstickers/a https://t.me/+491510000000 https://wa.me/?text=x https://api.whatsapp.com/send?text=x
  https://www.whatsapp.com/download https://discord.com/login https://discord.com/channels/@me https://github.com/some/repository
  https://github.com/features https://gist.github.com/some https://www.reddit.com/submit?url=x https://www.reddit.com/r/a/comments/1/x
  https://www.snapchat.com/discover/a/1 https://vimeo.com/123456 https://vimeo.com/some/review/1 https://www.twitch.tv/videos/1
  https://medium.com/@some/a-post-1 https://some.medium.com/a-post-1 https://medium.com/p/abc https://vk.com/share.php?url=x
  https://vk.com/wall-1_2 https://vk.com/photo1_2 https://vk.com/app1_2 https://service.weibo.com/share/share.php?url=x
  https://weibo.com/123456/Abc https://www.xing.com/spi/shares/new?url=x https://notfacebook.com/some https://facebook.com.example/some
  https://example.com/facebook.com/some mailto:some@facebook.com javascript:facebook.com/some ftp://facebook.com/some
  https://www.facebook.com/groups/some https://www.linkedin.com/groups/12345 https://vimeo.com/groups/some
  https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv https://m.me/ https://m.me/j/AbCd1234 https://twitter.com/intent/follow
  https://x.com/intent/user?user_id=1 https://www.youtube.com/subscription_center https://wa.me/+49
  /facebook.com/some facebook.com x.com someone
`

for (const address of NO_ACCOUNTS.trim().split(/\s+/)) {
  test(`${address} is not an account`, () => assert.equal(read(address), null))
}

test('a URL without its scheme, behind a redirector or within another URL is resolved', () => {
  const facebook = 'https://www.facebook.com/some'
  for (const address of [
    'www.facebook.com/some',
    'facebook.com/Some/',
    'https://l.facebook.com/l.php?u=https%3A%2F%2Ffacebook.com%2Fsome&h=1',
    'https://vk.com/away.php?to=https%3A%2F%2Ffacebook.com%2Fsome',
    'https://twitter.com/https://www.facebook.com/some',
    'https://www.facebook.com//some//',
    'HTTPS://WWW.FACEBOOK.COM/SOME',
  ]) {
    assert.equal(read(address)?.url, facebook)
  }
})

test('accounts are in page order, each URL once, in the spelling that came first', () => {
  const links = [
    'https://twitter.com/Second',
    'https://fb.com/first',
    '/inside',
    'https://x.com/second',
    'https://fb.com/FIRST/',
  ]
  assert.deepEqual(
    socialAccounts(page(links.map((link) => anchor(link))), DOMAIN).map(({ username }) => username),
    ['Second', 'first'],
  )
})

test('rel=me, twitter:site, meta and JSON-LD also name accounts', () => {
  const links: StartPageLink[] = [
    { from: 'meta', name: 'twitter:site', target: '@one' },
    { from: 'link', name: 'me', target: 'https://social.unknown.example/@two' },
    { from: 'meta', name: 'article:publisher', target: 'https://www.facebook.com/three' },
    { from: 'data', name: 'sameas', target: 'https://www.instagram.com/four' },
    anchor('https://social.unknown.example/@five', 'noopener me'),
  ]
  assert.deepEqual(
    socialAccounts(page(links), DOMAIN).map(({ username }) => username),
    ['one', 'two@social.unknown.example', 'three', 'four', 'five@social.unknown.example'],
  )
})

test("a site builder's own account counts only on its own domain", () => {
  const links = page([
    anchor('https://www.facebook.com/wix'),
    anchor('https://vk.com/timewebru'),
    anchor('https://x.com/some'),
  ])
  const found = (domain: string) => socialAccounts(links, name(domain)).map(({ username }) => username)
  assert.deepEqual(found('example.com'), ['some'])
  assert.deepEqual(found('wix.com'), ['wix', 'some'])
  assert.deepEqual(found('www.timeweb.ru'), ['timewebru', 'some'])
})

test('a placeholder of a template is not an account', () => {
  const links = page(
    ['yourpage', 'your-username', 'YourCompany', 'username'].map((each) => anchor(`https://fb.com/${each}`)),
  )
  assert.deepEqual(socialAccounts(links, DOMAIN), [])
})

test('no username has a control character or one that changes the direction of text', () => {
  for (const escaped of ['%00', '%07', '%7F', '%C2%85', '%E2%80%AE', '%E2%81%A6'])
    for (const kind of ['in', 'company', 'school', 'showcase'])
      assert.equal(read(`https://www.linkedin.com/${kind}/ann${escaped}b`), null, escaped)
  const joined = 'https://www.linkedin.com/company/%D9%85%DB%8C%E2%80%8C%D8%AF%D9%87'
  assert.equal(read(joined)?.username, '\u0645\u06cc\u200c\u062f\u0647', 'a joiner belongs to the word')
})

test('a special character of the rules is literal in a username', () => {
  for (const username of ['ann~b', '~ann', 'a*~*b', '$&~'])
    assert.equal(read(`https://www.linkedin.com/in/${username}`)?.url, `https://www.linkedin.com/in/${username}`)
})

test('no username consists only of dots', () => {
  for (const address of ['facebook.com/#!/..', 'https://www.facebook.com/...', 'https://www.tiktok.com/@..'])
    assert.equal(read(address), null, address)
})

test('links written by readers, and paid links, are ignored', () => {
  for (const rel of ['nofollow ugc', 'sponsored noopener'])
    assert.deepEqual(socialAccounts(page([anchor('https://x.com/some', rel)]), DOMAIN), [])
})

test('at most 100 accounts are returned, the first ones', () => {
  const links = Array.from({ length: 300 }, (_, at) => anchor(`https://x.com/some_${at}`))
  const found = socialAccounts(page(links), DOMAIN)
  assert.deepEqual([found.length, found[99]?.username], [100, 'some_99'])
})

test('any URL is handled, and the URL of an account is an account itself', () => {
  const host = fc.constantFrom(
    'facebook.com',
    'x.com',
    'linkedin.com',
    'youtube.com',
    't.me',
    'wa.me',
    'medium.com',
    'vk.com',
    'mastodon.social',
  )
  const part = fc.oneof(
    fc.constantFrom(
      'in',
      'company',
      'c',
      'user',
      'channel',
      'pages',
      'pg',
      '%',
      '%zz',
      '..',
      '@',
      '#!',
      '?id=1',
      'https:',
      'about',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
  )
  fc.assert(
    fc.property(host, fc.array(part, { maxLength: 4 }), fc.boolean(), (where, path, whole) => {
      const found = read(`${whole ? 'https://' : ''}${where}/${path.join('/')}`)
      if (found === null) return
      const again = read(found.url)
      assert.deepEqual([again?.network, again?.url], [found.network, found.url])
      assert.ok(found.url.isWellFormed() && found.username.isWellFormed() && found.username !== '')
    }),
    { numRuns: 3000 },
  )
})

const VECTORS = new URL('../../../../shared/data/social/site-links/site-links.csv.gz', import.meta.url)
test('among the links that a crawler took for accounts, sharing, posts and site builders are recognized', {
  skip: existsSync(VECTORS) ? false : 'site-links is not beside the repository',
}, async () => {
  const { gunzipSync } = await import('node:zlib')
  const links = gunzipSync(readFileSync(VECTORS))
    .toString()
    .split(/[\n,]/)
    .filter((each) => /^https?:/.test(each))
  const found = links.map((link) => ({ link, account: read(link) }))
  for (const { link, account } of found) {
    if (
      /sharer|share\.php|\/login|\/wall-?\d|\/p\/|\/photo(?!s\/?$)|explore\/|away\.php/.test(link) &&
      !/to=https?%3A/.test(link)
    ) {
      assert.equal(account, null, link)
    }
  }
  const accounts = found.flatMap(({ account }) => (account === null ? [] : [account]))
  assert.ok(accounts.length > 5000)
  for (const { url, network } of accounts) assert.equal(read(url)?.network, network, url)
})

for (const [address, type, username, url] of [
  ['https://www.reddit.com/user/some_one/posts/', 'reddit_user', 'some_one', 'https://www.reddit.com/user/some_one'],
  ['https://www.reddit.com/r/Some_Place/new/', 'reddit_community', 'Some_Place', 'https://www.reddit.com/r/some_place'],
  ['https://www.facebook.com/some.page/inbox', 'facebook', 'some.page', 'https://www.facebook.com/some.page'],
  ['https://www.facebook.com/some.page/about_overview', 'facebook', 'some.page', 'https://www.facebook.com/some.page'],
  ['https://x.com/SomeOne/with_replies', 'x', 'SomeOne', 'https://x.com/someone'],
  ['https://mastodon.social/@SomeOne/media', 'mastodon', 'SomeOne@mastodon.social', 'https://mastodon.social/@someone'],
  ['https://mastodon.social/deck/@SomeOne', 'mastodon', 'SomeOne@mastodon.social', 'https://mastodon.social/@someone'],
] as const) {
  test(`a tab of a profile belongs to that account: ${address}`, () => {
    const account = read(address)
    assert.deepEqual([account?.type, account?.username, account?.url], [type, username, url])
  })
}
