/** Finds accounts of Mastodon, whose servers anyone can run. */

import type { SocialAccount } from '../observation.ts'
import { wordSet } from './account-rules.ts'

/** Large servers whose names do not show that they run Mastodon. */
const KNOWN_FEDIVERSE_SERVERS = wordSet(
  'fosstodon.org hachyderm.io infosec.exchange chaos.social mas.to techhub.social mamot.fr norden.social ' +
    'social.tchncs.de universeodon.com toot.community toot.cafe ohai.social indieweb.social c.im aus.social ' +
    'piaille.fr ruhr.social troet.cafe climatejustice.social journa.host newsie.social sfba.social ' +
    'kolektiva.social mathstodon.xyz octodon.social scholar.social ioc.exchange phpc.social floss.social ' +
    'social.coop social.vivaldi.net det.social bonn.social pawoo.net wandering.shop home.social ' +
    'front-end.social astrodon.social eupolicy.social tooot.im disabled.social social.bund.de ' +
    'social.network.europa.eu bildung.social literatur.social openbiblio.social ruby.social mindly.social ' +
    'hostux.social masto.ai nrw.social muenchen.social graz.social dju.social swiss.social tkz.one ' +
    'vivaldi.net',
)
const FEDIVERSE_HOST_NAME =
  /(?:^|[.-])(?:mastodon|mstdn|masto|mast|pixelfed|misskey|pleroma|akkoma|firefish|sharkey)[^.]*\./

/** `@name`, `@name@server` for an account on another server, and the older forms of both. */
const ACCOUNT_PATH =
  /^(?:(?:web|deck)\/)?(?:@|users\/)([a-z\d_][\w.-]{0,62})(?:@([a-z\d-]+(?:\.[a-z\d-]+)+))?(?:\/(?:featured|followers|following|media|with_replies))?$/i

/** Returns whether a host is a known server or is named like one. */
export function isFediverseHost(host: string): boolean {
  return KNOWN_FEDIVERSE_SERVERS.has(host) || FEDIVERSE_HOST_NAME.test(host)
}

/** Returns the account at a path of a server. The username is `name@server`. `isOwn`: the page marks it as its own. */
export function fediverseAccount(host: string, path: string, isOwn: boolean): SocialAccount | null {
  const [, name, elsewhere] = ACCOUNT_PATH.exec(path) ?? []
  if (name === undefined || (isOwn && !path.startsWith('@'))) return null
  const server = (elsewhere ?? host).toLowerCase()
  const url = `https://${server}/@${name.toLowerCase()}`
  return { network: 'mastodon', type: 'mastodon', username: `${name}@${server}`, url }
}
