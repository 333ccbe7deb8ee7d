/** Sets of element names that the HTML standard uses to build a tree (section 13.2.4.2 and following). */

/**
 * Splits a line into a set of names. V8 stores equal keys of objects once, so all sets share their names, and comparing
 * two of them takes no time.
 */
export function nameSet(text: string): ReadonlySet<string> {
  return new Set(Object.keys(Object.fromEntries(text.split(/\s+/).map((name) => [name, true]))))
}

/** Elements without content and end tag. The standard turns `image` into `img`. */
export const VOID_ELEMENTS = nameSet(
  'area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr',
)
export const SPECIAL_ELEMENTS = nameSet(
  'address applet area article aside base basefont bgsound blockquote body br button caption center col ' +
    'colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 ' +
    'h4 h5 h6 head header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav ' +
    'noembed noframes noscript object ol p param plaintext pre script search section select source style ' +
    'summary table tbody td template textarea tfoot th thead title tr track ul wbr xmp',
)
/** Elements that continue after the end tag of their parent (section 13.2.6.4.7, formatting elements). */
export const FORMATTING_ELEMENTS = nameSet('a b big code em font i nobr s small strike strong tt u')
/** Blocks that close an open paragraph and end with their own end tag. */
export const BLOCK_ELEMENTS = nameSet(
  'address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer ' +
    'header hgroup main menu nav ol p search section summary ul pre listing',
)
export const HEADING_ELEMENTS = nameSet('h1 h2 h3 h4 h5 h6')
export const IMPLIED_END_TAGS = nameSet('dd dt li optgroup option p rb rp rt rtc')
export const IMPLIED_END_TAGS_THOROUGH = nameSet(
  'dd dt li optgroup option p rb rp rt rtc caption colgroup tbody td tfoot th thead tr',
)
export const TABLE_SECTIONS = nameSet('tbody tfoot thead')
export const TABLE_CELLS = nameSet('td th')
export const TABLE_PARTS = nameSet('caption col colgroup tbody td tfoot th thead tr')
/** Text and elements directly inside these move in front of the table (foster parenting). */
export const FOSTER_PARENTING_ELEMENTS = nameSet('table tbody tfoot thead tr')
/** Elements of the head, which do not open the body. */
export const HEAD_ELEMENTS = nameSet('base basefont bgsound link meta title style script noframes noscript template')
export const MARKER_ELEMENTS = nameSet('applet marquee object')
/** Elements whose content is text up to their end tag. */
export const RAW_TEXT_ELEMENTS = nameSet('title textarea style script xmp iframe noembed noframes noscript plaintext')
/** HTML start tags that close all open elements of SVG and MathML. */
export const BREAKOUT_TAGS = nameSet(
  'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing ' +
    'menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var',
)
export const HTML_INTEGRATION_POINTS = nameSet('foreignobject desc title')
export const MATHML_TEXT_INTEGRATION_POINTS = nameSet('mi mo mn ms mtext')

const DEFAULT_SCOPE = 'applet caption html table td th marquee object template'
/** The elements that end a search for an open element, by kind of search (section 13.2.4.2). */
export const SCOPES = {
  usual: nameSet(DEFAULT_SCOPE),
  list: nameSet(`${DEFAULT_SCOPE} ol ul`),
  button: nameSet(`${DEFAULT_SCOPE} button`),
  table: nameSet('html table template'),
} as const

/** The names above and other frequent ones, each by itself. */
const FREQUENT_NAMES = new Map(
  [
    ...[VOID_ELEMENTS, SPECIAL_ELEMENTS, FORMATTING_ELEMENTS, BLOCK_ELEMENTS, IMPLIED_END_TAGS_THOROUGH],
    ...[RAW_TEXT_ELEMENTS, BREAKOUT_TAGS, MARKER_ELEMENTS],
    nameSet('abbr audio canvas cite defs g label mark math path picture polygon rect svg template time use video'),
  ].flatMap((names) => [...names].map((name) => [name, name] as const)),
)

/** The name of a tag in lower case. A frequent name is the same string as in the sets. */
export function elementName(text: string): string {
  return FREQUENT_NAMES.get(text) ?? text.toLowerCase()
}
