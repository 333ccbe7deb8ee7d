/** Start tags in the body (HTML, section 13.2.6.4.7): the elements they close and imply. */

import { closeFormatting, closeParagraph } from './body-end-tags.ts'
import {
  BLOCK_ELEMENTS,
  FORMATTING_ELEMENTS,
  HEAD_ELEMENTS,
  HEADING_ELEMENTS,
  MARKER_ELEMENTS,
  nameSet,
  RAW_TEXT_ELEMENTS,
  TABLE_PARTS,
  VOID_ELEMENTS,
} from './element-names.ts'
import { isSpecialElement } from './open-elements.ts'
import type { TagAttributes } from './tokenizer.ts'
import type { HtmlTreeBuilder } from './tree-builder.ts'

/** The search for an open list item passes these special elements. */
const ITEM_SCOPE_EXCEPTIONS = nameSet('address div p')
const VOID_BLOCKS = nameSet('hr param source track')
const FRAMESET_COMPATIBLE = nameSet('param source track')

type StartTagHandler = (tree: HtmlTreeBuilder, name: string, attributes: TagAttributes) => void

/** Handles a start tag. */
export function handleBodyStartTag(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  const start = START_TAG_HANDLERS.get(name) ?? startAnyOther
  start(tree, name, attributes)
}

const START_TAG_HANDLERS = new Map<string, StartTagHandler>([
  ...handlersFor(TABLE_PARTS, () => {}),
  ...handlersFor(nameSet('html head'), () => {}),
  ...handlersFor(VOID_ELEMENTS, startVoid),
  ...handlersFor(HEAD_ELEMENTS, (...args) => (VOID_ELEMENTS.has(args[1]) ? startVoid : startRawText)(...args)),
  ...handlersFor(RAW_TEXT_ELEMENTS, startRawText),
  ...handlersFor(FORMATTING_ELEMENTS, startFormatting),
  ...handlersFor(BLOCK_ELEMENTS, startBlock),
  ...handlersFor(HEADING_ELEMENTS, startHeading),
  ...handlersFor(MARKER_ELEMENTS, startMarkerElement),
  ...handlersFor(nameSet('dd dt li'), startListItem),
  ...handlersFor(nameSet('optgroup option'), startOption),
  ...handlersFor(nameSet('rb rtc rp rt'), startRuby),
  ...handlersFor(nameSet('svg math'), startForeign),
  ['col', () => {}],
  ['frame', () => {}],
  ['image', (tree, _, attributes) => startVoid(tree, 'img', attributes)],
  ['body', startBody],
  ['frameset', startFrameset],
  ['button', startButton],
  ['form', startForm],
  ['table', startTable],
  ['select', startSelect],
])

function handlersFor(names: ReadonlySet<string>, start: StartTagHandler): (readonly [string, StartTagHandler])[] {
  return [...names].map((name) => [name, start])
}

function startBody(tree: HtmlTreeBuilder): void {
  if (!tree.open.has('template')) tree.framesetOk = false
}

function startFrameset(tree: HtmlTreeBuilder): void {
  const { open, framesetOk } = tree
  if (framesetOk && open.depth > 1 && open.at(1)?.name === 'body') tree.discardBody()
}

function startForeign(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  tree.reconstruct()
  tree.insert(name, attributes, name === 'svg' ? 'svg' : 'math')
}

function startVoid(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  const isHead = HEAD_ELEMENTS.has(name)
  if (name === 'hr') closeParagraph(tree)
  else if (!isHead && !VOID_BLOCKS.has(name)) tree.reconstruct()
  tree.insert(name, attributes)
  const isQuiet =
    isHead || FRAMESET_COMPATIBLE.has(name) || (name === 'input' && attributes.type?.toLowerCase() === 'hidden')
  if (!isQuiet) tree.framesetOk = false
}

/** Handles elements of the head and others with text content. */
function startRawText(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  if (name === 'xmp' || name === 'plaintext') closeParagraph(tree)
  if (name === 'xmp') tree.reconstruct()
  if (name === 'xmp' || name === 'iframe' || name === 'textarea') tree.framesetOk = false
  if (name === 'template') {
    tree.active.pushMarker()
    tree.framesetOk = false
  }
  tree.insert(name, attributes)
}

function startFormatting(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  const { active, open } = tree
  if (name === 'a') {
    const last = active.last('a')
    if (last !== null) {
      closeFormatting(tree, 'a')
      active.remove(last)
      if (last.isOpen) open.remove(last)
    }
  }
  tree.reconstruct()
  if (name === 'nobr' && open.isInScope('usual', 'nobr')) {
    closeFormatting(tree, 'nobr')
    tree.reconstruct()
  }
  const element = tree.insert(name, attributes)
  if (element.isOpen) active.push(element)
}

function startBlock(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  closeParagraph(tree)
  if (name === 'pre' || name === 'listing') tree.framesetOk = false
  tree.insert(name, attributes)
}

function startHeading(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  closeParagraph(tree)
  if (HEADING_ELEMENTS.has(tree.open.current.name)) tree.open.pop()
  tree.insert(name, attributes)
}

function startMarkerElement(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  tree.reconstruct()
  tree.insert(name, attributes)
  tree.active.pushMarker()
  tree.framesetOk = false
}

/** Handles a list item, which closes the previous item of its list. */
function startListItem(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  const { open } = tree
  tree.framesetOk = false
  const ended = name === 'li' ? ['li'] : ['dd', 'dt']
  if (ended.some((each) => open.has(each))) {
    for (let index = open.depth - 1; index > 0 && open.spendSteps(1); index--) {
      const element = open.at(index)!
      if (element.namespace === 'html' && ended.includes(element.name)) {
        open.generateImpliedEnds(element.name)
        open.popUntil(element.name)
        break
      }
      if (isSpecialElement(element) && !ITEM_SCOPE_EXCEPTIONS.has(element.name)) break
    }
  }
  closeParagraph(tree)
  tree.insert(name, attributes)
}

function startOption(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  if (tree.open.current.name === 'option') tree.open.pop()
  startAnyOther(tree, name, attributes)
}

function startRuby(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  const { open } = tree
  if (open.isInScope('usual', 'ruby')) open.generateImpliedEnds(name === 'rp' || name === 'rt' ? 'rtc' : '')
  tree.insert(name, attributes)
}

function startButton(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  const { open } = tree
  if (open.isInScope('usual', 'button')) {
    open.generateImpliedEnds()
    open.popUntil('button')
  }
  startAnyOther(tree, name, attributes)
  tree.framesetOk = false
}

function startForm(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  const isTemplate = tree.open.has('template')
  if (tree.form !== null && !isTemplate) return
  closeParagraph(tree)
  const element = tree.insert(name, attributes)
  if (!isTemplate) tree.form = element
}

function startTable(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  if (!tree.quirks) closeParagraph(tree)
  tree.insert(name, attributes)
  tree.framesetOk = false
}

function startSelect(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  startAnyOther(tree, name, attributes)
  tree.framesetOk = false
}

function startAnyOther(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): void {
  tree.reconstruct()
  tree.insert(name, attributes)
}
