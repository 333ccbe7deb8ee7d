/** SVG and MathML inside HTML (sections 13.2.4.2 and 13.2.6.5): where they may contain HTML, and what closes them. */

import { BREAKOUT_TAGS, HTML_INTEGRATION_POINTS, MATHML_TEXT_INTEGRATION_POINTS } from './element-names.ts'
import type { TagAttributes } from './tokenizer.ts'

export type MarkupNamespace = 'html' | 'svg' | 'math'

type ForeignElement = { readonly name: string; readonly namespace: MarkupNamespace; readonly attributes: TagAttributes }

/** Whether an element of SVG or MathML may contain HTML. */
export function isIntegrationPoint({ name, namespace }: Omit<ForeignElement, 'attributes'>): boolean {
  if (namespace === 'svg') return HTML_INTEGRATION_POINTS.has(name)
  return namespace === 'math' && (MATHML_TEXT_INTEGRATION_POINTS.has(name) || name === 'annotation-xml')
}

/** Whether a start tag inside SVG or MathML follows the rules of HTML. */
export function usesHtmlRules({ name, namespace, attributes }: ForeignElement, tag: string): boolean {
  if (namespace === 'html') return true
  if (namespace === 'svg') return HTML_INTEGRATION_POINTS.has(name)
  if (MATHML_TEXT_INTEGRATION_POINTS.has(name)) return tag !== 'mglyph' && tag !== 'malignmark'
  return name === 'annotation-xml' && (tag === 'svg' || isHtmlAnnotation(attributes))
}

/** An annotation-xml of MathML with such an encoding contains HTML. */
function isHtmlAnnotation({ encoding = '' }: TagAttributes): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)$/i.test(encoding)
}

export function isBreakoutTag(tag: string, { color, face, size }: TagAttributes): boolean {
  return BREAKOUT_TAGS.has(tag) || (tag === 'font' && (color ?? face ?? size) !== undefined)
}
