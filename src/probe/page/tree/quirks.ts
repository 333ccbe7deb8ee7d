/**
 * Whether a doctype puts a page into quirks mode, in which a paragraph may contain a table (HTML, section 13.2.6.4.1).
 */

const DOCTYPE =
  /^!?doctype\s*([^\s>"']*)\s*(?:(public|system)\s*(?:"([^"]*)"?|'([^']*)'?)?\s*(?:"([^"]*)"?|'([^']*)'?)?)?/i
const QUIRKS_PUBLIC_ID =
  /^(?:[+]\/\/silmaril\/\/dtd html pro|-\/\/(?:as\/|advasoft|ietf\/|metrius|microsoft\/|netscape|o'reilly|softquad|spyglass|sq\/|sun micro|w30?\/|w3o\/|webtechs|w3c\/\/dtd (?:html (?:3|4\.0 (?:frameset|transitional)|experimental)|w3 html))|-\/w3c\/dtd html 4\.0 transitional\/en|html$)/i
const QUIRKS_PUBLIC_ID_WITHOUT_SYSTEM = /^-\/\/w3c\/\/dtd html 4\.01 (?:frameset|transitional)\/\//i
const QUIRKS_SYSTEM_ID = 'http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd'

/** `text`: the text between `<` and `>`. */
export function isQuirksDoctype(text: string): boolean {
  const [, name = '', kind = '', double, single, ...rest] = DOCTYPE.exec(text) ?? []
  if (name.toLowerCase() !== 'html') return true
  const first = double ?? single
  const isPublic = kind.toLowerCase() === 'public'
  const system = isPublic ? (rest[0] ?? rest[1]) : first
  if (kind !== '' && first === undefined) return true
  if (system?.toLowerCase() === QUIRKS_SYSTEM_ID) return true
  return (
    isPublic &&
    (QUIRKS_PUBLIC_ID.test(first!) || (system === undefined && QUIRKS_PUBLIC_ID_WITHOUT_SYSTEM.test(first!)))
  )
}
