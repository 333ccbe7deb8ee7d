/** Accounts of site builders, which their templates, parking pages and credits leave on other people's pages. */

import type { DomainName } from '../../values/domain-name.ts'
import { wordSet } from './account-rules.ts'

/** Usernames on any network, in lower case, and the registrable domains on which they belong to the site. */
const SITE_BUILDERS: readonly { accounts: ReadonlySet<string>; own: ReadonlySet<string> }[] = [
  siteBuilder('facebook instagram twitter youtube pinterest tiktok linkedin whatsapp snapchat vimeo', [
    'facebook.com instagram.com twitter.com x.com youtube.com pinterest.com tiktok.com linkedin.com whatsapp.com',
    'snapchat.com vimeo.com',
  ]),
  siteBuilder('wix wixcom wix-com wixstudio wix.com wixrussian wixrussia', ['wix.com editorx.com']),
  siteBuilder('squarespace', ['squarespace.com']),
  siteBuilder('weebly', ['weebly.com']),
  siteBuilder('wordpress wordpressdotcom wordpresscom wordpress-com automattic wordpressdotorg', [
    'wordpress.com wordpress.org automattic.com',
  ]),
  siteBuilder('shopify', ['shopify.com']),
  siteBuilder('webflow', ['webflow.com webflow.io']),
  siteBuilder('bigcommerce', ['bigcommerce.com']),
  siteBuilder('godaddy go-daddy', ['godaddy.com']),
  siteBuilder('jimdo jimdode', ['jimdo.com jimdo.de']),
  siteBuilder('strikingly', ['strikingly.com']),
  siteBuilder('webnode', ['webnode.com']),
  siteBuilder('site123', ['site123.com']),
  siteBuilder('dudamobile duda', ['duda.co']),
  siteBuilder('carrd carrdco ajlkn html5up', ['carrd.co html5up.net']),
  siteBuilder('ghost tryghost', ['ghost.org']),
  siteBuilder('blogger', ['blogger.com']),
  siteBuilder('tilda tildapublishing tilda_publishing tilda_cc', ['tilda.cc tilda.ru']),
  siteBuilder('timeweb timewebru timeweb.ru ucsnrzx_ykqoztr1y6oxxsq uctsnrzx_ykqoztr1y6oxxsq', [
    'timeweb.ru timeweb.com',
  ]),
  siteBuilder('regru reg.ru reg_ru', ['reg.ru reg.com']),
  siteBuilder('rucenter ru_nic runic', ['nic.ru']),
  siteBuilder('beget begetru beget_com', ['beget.com beget.ru']),
  siteBuilder('megagroup megagroup_ru megagroup.ru megarussia', ['megagroup.ru']),
  siteBuilder('nethouse nethouse.ru', ['nethouse.ru']),
  siteBuilder('ucoz ucozru ukit ukitcom', ['ucoz.ru ucoz.com ukit.com']),
  siteBuilder('insales bitrix24 1cbitrix', ['insales.ru bitrix24.ru bitrix24.com 1c-bitrix.ru']),
  siteBuilder('elementor elemntor elegantthemes divi', ['elementor.com elegantthemes.com']),
  siteBuilder('teplitsast', ['te-st.org te-st.ru']), // the theme Kandinsky
  siteBuilder('themeforest envato envatomarket envato-market', ['themeforest.net envato.com']),
  siteBuilder('templatemonster zemez', ['templatemonster.com zemez.io']),
  siteBuilder('colorlib wpastra kadencewp generatepress themeisle athemes themegrill oceanwp wpoceanwp', [
    'colorlib.com wpastra.com kadencewp.com generatepress.com themeisle.com athemes.com themegrill.com oceanwp.org',
  ]),
  siteBuilder('studiopress genesiswp mythemeshop cssigniter wpengine', [
    'studiopress.com mythemeshop.com wpengine.com',
  ]),
  siteBuilder('joomla joomlart joomshaper yootheme rockettheme', [
    'joomla.org joomlart.com joomshaper.com yootheme.com rockettheme.com',
  ]),
  siteBuilder('drupal opencart prestashop magento woocommerce', [
    'drupal.org opencart.com prestashop.com magento.com woocommerce.com',
  ]),
  siteBuilder('getbootstrap twbs fortawesome fontawesome jquery', ['getbootstrap.com fontawesome.com jquery.com']),
  siteBuilder('jekyll jekyllrb gohugoio gatsbyjs vercel netlify docusaurus', [
    'jekyllrb.com gohugo.io gatsbyjs.com vercel.com netlify.com docusaurus.io',
  ]),
  siteBuilder('hostinger ionos ovh ovhcloud namecheap bluehost hostgator siteground dreamhost', [
    'hostinger.com ionos.com ovh.com ovhcloud.com namecheap.com bluehost.com hostgator.com siteground.com ' +
      'dreamhost.com',
  ]),
  siteBuilder('sedo dan_hq afternic hugedomains plesk cpanel', [
    'sedo.com dan.com afternic.com hugedomains.com plesk.com cpanel.net',
  ]),
]

/** Placeholders that templates contain until someone replaces them. */
const PLACEHOLDER_USERNAME =
  /^(?:your|my)[-_.]?(?:account|brand|business|channel|company|handle|id|link|name|organi[sz]ation|page|profile|site|user|username)(?:[-_.]?(?:name|here|page|id))?$|^(?:username|yourname|someaccount)(?:here)?$|^0?123456789\d?$/i

/** The site builders by username. */
const OWN_DOMAINS_BY_USERNAME = new Map(
  SITE_BUILDERS.flatMap(({ accounts, own }) => [...accounts].map((account) => [account, own] as const)),
)

/** Returns whether an account says nothing about the domain: a placeholder, or a site builder's on another site. */
export function isBoilerplateAccount(username: string, domain: DomainName): boolean {
  const own = OWN_DOMAINS_BY_USERNAME.get(username.toLowerCase())
  return own === undefined ? PLACEHOLDER_USERNAME.test(username) : !own.has(domain)
}

function siteBuilder(accounts: string, own: readonly string[]) {
  return { accounts: wordSet(accounts), own: wordSet(own.join(' ')) }
}
