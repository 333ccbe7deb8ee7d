/** The accounts of those who make sites for others, which their templates, parking pages and credits leave behind. */

import type { Name } from '../words/name.ts'
import { words } from './social-rules.ts'

/** Usernames on any network, in lower case, and the registrable domains on which they are the site's own. */
const MAKERS: readonly { accounts: ReadonlySet<string>; own: ReadonlySet<string> }[] = [
  maker('facebook instagram twitter youtube pinterest tiktok linkedin whatsapp snapchat vimeo', [
    'facebook.com instagram.com twitter.com x.com youtube.com pinterest.com tiktok.com linkedin.com whatsapp.com',
    'snapchat.com vimeo.com',
  ]),
  maker('wix wixcom wix-com wixstudio wix.com wixrussian wixrussia', ['wix.com editorx.com']),
  maker('squarespace', ['squarespace.com']),
  maker('weebly', ['weebly.com']),
  maker('wordpress wordpressdotcom wordpresscom wordpress-com automattic wordpressdotorg', [
    'wordpress.com wordpress.org automattic.com',
  ]),
  maker('shopify', ['shopify.com']),
  maker('webflow', ['webflow.com webflow.io']),
  maker('bigcommerce', ['bigcommerce.com']),
  maker('godaddy go-daddy', ['godaddy.com']),
  maker('jimdo jimdode', ['jimdo.com jimdo.de']),
  maker('strikingly', ['strikingly.com']),
  maker('webnode', ['webnode.com']),
  maker('site123', ['site123.com']),
  maker('dudamobile duda', ['duda.co']),
  maker('carrd carrdco ajlkn html5up', ['carrd.co html5up.net']),
  maker('ghost tryghost', ['ghost.org']),
  maker('blogger', ['blogger.com']),
  maker('tilda tildapublishing tilda_publishing tilda_cc', ['tilda.cc tilda.ru']),
  maker('timeweb timewebru timeweb.ru ucsnrzx_ykqoztr1y6oxxsq uctsnrzx_ykqoztr1y6oxxsq', ['timeweb.ru timeweb.com']),
  maker('regru reg.ru reg_ru', ['reg.ru reg.com']),
  maker('rucenter ru_nic runic', ['nic.ru']),
  maker('beget begetru beget_com', ['beget.com beget.ru']),
  maker('megagroup megagroup_ru megagroup.ru megarussia', ['megagroup.ru']),
  maker('nethouse nethouse.ru', ['nethouse.ru']),
  maker('ucoz ucozru ukit ukitcom', ['ucoz.ru ucoz.com ukit.com']),
  maker('insales bitrix24 1cbitrix', ['insales.ru bitrix24.ru bitrix24.com 1c-bitrix.ru']),
  maker('elementor elemntor elegantthemes divi', ['elementor.com elegantthemes.com']),
  maker('teplitsast', ['te-st.org te-st.ru']), // the theme Kandinsky
  maker('themeforest envato envatomarket envato-market', ['themeforest.net envato.com']),
  maker('templatemonster zemez', ['templatemonster.com zemez.io']),
  maker('colorlib wpastra kadencewp generatepress themeisle athemes themegrill oceanwp wpoceanwp', [
    'colorlib.com wpastra.com kadencewp.com generatepress.com themeisle.com athemes.com themegrill.com oceanwp.org',
  ]),
  maker('studiopress genesiswp mythemeshop cssigniter wpengine', ['studiopress.com mythemeshop.com wpengine.com']),
  maker('joomla joomlart joomshaper yootheme rockettheme', [
    'joomla.org joomlart.com joomshaper.com yootheme.com rockettheme.com',
  ]),
  maker('drupal opencart prestashop magento woocommerce', [
    'drupal.org opencart.com prestashop.com magento.com woocommerce.com',
  ]),
  maker('getbootstrap twbs fortawesome fontawesome jquery', ['getbootstrap.com fontawesome.com jquery.com']),
  maker('jekyll jekyllrb gohugoio gatsbyjs vercel netlify docusaurus', [
    'jekyllrb.com gohugo.io gatsbyjs.com vercel.com netlify.com docusaurus.io',
  ]),
  maker('hostinger ionos ovh ovhcloud namecheap bluehost hostgator siteground dreamhost', [
    'hostinger.com ionos.com ovh.com ovhcloud.com namecheap.com bluehost.com hostgator.com siteground.com dreamhost.com',
  ]),
  maker('sedo dan_hq afternic hugedomains plesk cpanel', [
    'sedo.com dan.com afternic.com hugedomains.com plesk.com cpanel.net',
  ]),
]

/** What templates hold until somebody fills them in. */
const PLACEHOLDER =
  /^(?:your|my)[-_.]?(?:account|brand|business|channel|company|handle|id|link|name|organi[sz]ation|page|profile|site|user|username)(?:[-_.]?(?:name|here|page|id))?$|^(?:username|yourname|someaccount)(?:here)?$|^0?123456789\d?$/i

/** The makers whose account of that name is. */
const MAKER_OF = new Map(MAKERS.flatMap(({ accounts, own }) => [...accounts].map((account) => [account, own] as const)))

/** Whether an account of this name says nothing of the domain: a maker's on somebody else's page, or nobody's. */
export function isMakers(username: string, domain: Name): boolean {
  const own = MAKER_OF.get(username.toLowerCase())
  return own === undefined ? PLACEHOLDER.test(username) : !own.has(domain)
}

function maker(accounts: string, own: readonly string[]) {
  return { accounts: words(accounts), own: words(own.join(' ')) }
}
