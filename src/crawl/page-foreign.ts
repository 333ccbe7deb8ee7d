/** SVG and MathML inside of HTML (chapters 13.2.4.2 and 13.2.6.5): where HTML may stand in them, and what ends them. */

import { BREAKOUT, HTML_INTEGRATION, MATH_TEXT } from './page-names.ts'
import type { Attributes } from './page-tokens.ts'

export type Space = 'html' | 'svg' | 'math'

type Placed = { readonly name: string; readonly space: Space; readonly attributes: Attributes }

/** Elements of SVG and MathML in which HTML may stand. */
export function isIntegrationPoint({ name, space }: Omit<Placed, 'attributes'>): boolean {
  if (space === 'svg') return HTML_INTEGRATION.has(name)
  return space === 'math' && (MATH_TEXT.has(name) || name === 'annotation-xml')
}

/** Whether a start tag is read by the rules of HTML though it stands in SVG or MathML. */
export function takesHtml({ name, space, attributes }: Placed, tag: string): boolean {
  if (space === 'html') return true
  if (space === 'svg') return HTML_INTEGRATION.has(name)
  if (MATH_TEXT.has(name)) return tag !== 'mglyph' && tag !== 'malignmark'
  return name === 'annotation-xml' && (tag === 'svg' || isHtmlAnnotation(attributes))
}

/** MathML's annotation-xml of such an encoding holds HTML. */
function isHtmlAnnotation({ encoding = '' }: Attributes): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)$/i.test(encoding)
}

export function breaksOut(tag: string, { color, face, size }: Attributes): boolean {
  return BREAKOUT.has(tag) || (tag === 'font' && (color ?? face ?? size) !== undefined)
}
