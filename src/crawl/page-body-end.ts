/** End tags in the body (HTML, chapter 13.2.6.4.7): what they end, and imply. */

import type { PageBuilder } from './page-builder.ts'
import { isSpecial } from './page-elements.ts'
import { BLOCK, FORMATTING, HEADING, IMPLIED_END_THOROUGH, MARKED } from './page-names.ts'

const HEADINGS = [...HEADING]

type End = (tree: PageBuilder, name: string) => void

/** Reads an end tag. */
export function readBodyEnd(tree: PageBuilder, name: string): void {
  const end = ENDS.get(name) ?? endOther
  end(tree, name)
}

const ENDS = new Map<string, End>([
  ...[...BLOCK, 'button', 'dd', 'dt'].map((name) => [name, endBlock] as const),
  ...[...FORMATTING].map((name) => [name, closeFormatting] as const),
  ...HEADINGS.map((name) => [name, endHeading] as const),
  ...[...MARKED].map((name) => [name, endMarked] as const),
  ['body', () => {}],
  ['html', () => {}],
  ['br', (tree) => endBreak(tree)],
  ['p', endParagraph],
  ['li', (tree, name) => void endInScope(tree, 'list', name)],
  ['form', endForm],
  ['template', endTemplate],
])

/** `</br>` is read as `<br>`. */
function endBreak(tree: PageBuilder): void {
  tree.reconstruct()
  tree.insert('br')
  tree.framesetOk = false
}

function endBlock(tree: PageBuilder, name: string): void {
  endInScope(tree, 'usual', name)
}

function endHeading(tree: PageBuilder, name: string): void {
  endInScope(tree, 'usual', name, HEADINGS)
}

function endMarked(tree: PageBuilder, name: string): void {
  if (endInScope(tree, 'usual', name)) tree.active.clearToMarker()
}

function endParagraph(tree: PageBuilder): void {
  if (!tree.open.isInScope('button', 'p')) tree.insert('p')
  closeParagraph(tree)
}

function endTemplate({ open, active }: PageBuilder): void {
  if (!open.has('template')) return
  open.generateImpliedEnds('', IMPLIED_END_THOROUGH)
  open.popUntil('template')
  active.clearToMarker()
}

/** Ends the innermost element of a name, or of one of `alike`; false where none is in scope. */
function endInScope({ open }: PageBuilder, scope: 'usual' | 'list', name: string, alike = [name]): boolean {
  if (!open.isOneInScope(scope, alike)) return false
  open.generateImpliedEnds(name)
  open.popUntilOne(alike)
  return true
}

function endForm(tree: PageBuilder): void {
  const { open, form } = tree
  if (open.has('template')) {
    endBlock(tree, 'form')
    return
  }
  tree.form = null
  if (form === null || !form.isOpen || !open.isElementInScope(form)) return
  open.generateImpliedEnds()
  open.remove(form)
}

export function closeParagraph({ open }: PageBuilder): void {
  if (!open.isInScope('button', 'p')) return
  open.generateImpliedEnds('p')
  open.popUntil('p')
}

export function closeFormatting(tree: PageBuilder, name: string): void {
  if (!tree.active.close(name)) endOther(tree, name)
}

/** An element that nothing special is open inside of. */
function endOther({ open }: PageBuilder, name: string): void {
  if (!open.has(name)) return
  for (let index = open.depth - 1; index > 0 && open.spend(1); index--) {
    const element = open.at(index)!
    if (element.name === name && element.space === 'html') {
      open.generateImpliedEnds(name)
      while (open.at(index) === element) open.pop()
      return
    }
    if (isSpecial(element)) return
  }
}
