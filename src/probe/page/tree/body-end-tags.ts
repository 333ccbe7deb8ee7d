/** End tags in the body (HTML, section 13.2.6.4.7): the elements they close and imply. */

import {
  BLOCK_ELEMENTS,
  FORMATTING_ELEMENTS,
  HEADING_ELEMENTS,
  IMPLIED_END_TAGS_THOROUGH,
  MARKER_ELEMENTS,
} from './element-names.ts'
import { isSpecialElement } from './open-elements.ts'
import type { HtmlTreeBuilder } from './tree-builder.ts'

const HEADING_NAMES = [...HEADING_ELEMENTS]

type EndTagHandler = (tree: HtmlTreeBuilder, name: string) => void

/** Handles an end tag. */
export function handleBodyEndTag(tree: HtmlTreeBuilder, name: string): void {
  const end = END_TAG_HANDLERS.get(name) ?? endAnyOther
  end(tree, name)
}

const END_TAG_HANDLERS = new Map<string, EndTagHandler>([
  ...[...BLOCK_ELEMENTS, 'button', 'dd', 'dt'].map((name) => [name, endBlockElement] as const),
  ...[...FORMATTING_ELEMENTS].map((name) => [name, closeFormatting] as const),
  ...HEADING_NAMES.map((name) => [name, endHeading] as const),
  ...[...MARKER_ELEMENTS].map((name) => [name, endMarkerElement] as const),
  ['body', () => {}],
  ['html', () => {}],
  ['br', (tree) => endBr(tree)],
  ['p', endParagraph],
  ['li', (tree, name) => void endInScope(tree, 'list', name)],
  ['form', endForm],
  ['template', endTemplate],
])

/** `</br>` counts as `<br>`. */
function endBr(tree: HtmlTreeBuilder): void {
  tree.reconstruct()
  tree.insert('br')
  tree.framesetOk = false
}

function endBlockElement(tree: HtmlTreeBuilder, name: string): void {
  endInScope(tree, 'usual', name)
}

function endHeading(tree: HtmlTreeBuilder, name: string): void {
  endInScope(tree, 'usual', name, HEADING_NAMES)
}

function endMarkerElement(tree: HtmlTreeBuilder, name: string): void {
  if (endInScope(tree, 'usual', name)) tree.active.clearToMarker()
}

function endParagraph(tree: HtmlTreeBuilder): void {
  if (!tree.open.isInScope('button', 'p')) tree.insert('p')
  closeParagraph(tree)
}

function endTemplate({ open, active }: HtmlTreeBuilder): void {
  if (!open.has('template')) return
  open.generateImpliedEnds('', IMPLIED_END_TAGS_THOROUGH)
  open.popUntil('template')
  active.clearToMarker()
}

/** Closes the innermost element with this name, or with one of `alike`. Returns false if none is in scope. */
function endInScope({ open }: HtmlTreeBuilder, scope: 'usual' | 'list', name: string, alike = [name]): boolean {
  if (!open.isOneInScope(scope, alike)) return false
  open.generateImpliedEnds(name)
  open.popUntilOne(alike)
  return true
}

function endForm(tree: HtmlTreeBuilder): void {
  const { open, form } = tree
  if (open.has('template')) {
    endBlockElement(tree, 'form')
    return
  }
  tree.form = null
  if (form === null || !form.isOpen || !open.isElementInScope(form)) return
  open.generateImpliedEnds()
  open.remove(form)
}

export function closeParagraph({ open }: HtmlTreeBuilder): void {
  if (!open.isInScope('button', 'p')) return
  open.generateImpliedEnds('p')
  open.popUntil('p')
}

export function closeFormatting(tree: HtmlTreeBuilder, name: string): void {
  if (!tree.active.close(name)) endAnyOther(tree, name)
}

/** Closes an element, unless a special element is open inside it. */
function endAnyOther({ open }: HtmlTreeBuilder, name: string): void {
  if (!open.has(name)) return
  for (let index = open.depth - 1; index > 0 && open.spendSteps(1); index--) {
    const element = open.at(index)!
    if (element.name === name && element.namespace === 'html') {
      open.generateImpliedEnds(name)
      while (open.at(index) === element) open.pop()
      return
    }
    if (isSpecialElement(element)) return
  }
}
