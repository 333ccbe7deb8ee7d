/** Start tags in the body (HTML, chapter 13.2.6.4.7): what they end and imply. */

import { closeFormatting, closeParagraph } from './page-body-end.ts'
import type { PageBuilder } from './page-builder.ts'
import { isSpecial } from './page-elements.ts'
import { BLOCK, FORMATTING, HEADING, IN_HEAD, MARKED, RAW, TABLE_PART, VOID, words } from './page-names.ts'
import type { Attributes } from './page-tokens.ts'

/** They end an item of a list no further than here. */
const HOLDS_ITEMS = words('address div p')
const VOID_BLOCK = words('hr param source track')
const KEEPS_FRAMES = words('param source track')

type Start = (tree: PageBuilder, name: string, attributes: Attributes) => void

/** Reads a start tag. */
export function readBodyStart(tree: PageBuilder, name: string, attributes: Attributes): void {
  const start = STARTS.get(name) ?? startOther
  start(tree, name, attributes)
}

const STARTS = new Map<string, Start>([
  ...all(TABLE_PART, () => {}),
  ...all(words('html head frame'), () => {}),
  ...all(VOID, startVoid),
  ...all(IN_HEAD, (...given) => (VOID.has(given[1]) ? startVoid : startRaw)(...given)),
  ...all(RAW, startRaw),
  ...all(FORMATTING, startFormatting),
  ...all(BLOCK, startBlock),
  ...all(HEADING, startHeading),
  ...all(MARKED, startMarked),
  ...all(words('dd dt li'), startItem),
  ...all(words('optgroup option'), startOption),
  ...all(words('rb rtc rp rt'), startRuby),
  ...all(words('svg math'), startForeign),
  ['col', () => {}],
  ['frame', () => {}],
  ['image', (tree, _, attributes) => startVoid(tree, 'img', attributes)],
  ['body', startBody],
  ['frameset', startFrames],
  ['button', startButton],
  ['form', startForm],
  ['table', startTable],
  ['select', startSelect],
])

function all(names: ReadonlySet<string>, start: Start): (readonly [string, Start])[] {
  return [...names].map((name) => [name, start])
}

function startBody(tree: PageBuilder): void {
  if (!tree.open.has('template')) tree.framesetOk = false
}

function startFrames(tree: PageBuilder): void {
  const { open, framesetOk } = tree
  if (framesetOk && open.depth > 1 && open.at(1)?.name === 'body') tree.leaveBody()
}

function startForeign(tree: PageBuilder, name: string, attributes: Attributes): void {
  tree.reconstruct()
  tree.insert(name, attributes, name === 'svg' ? 'svg' : 'math')
}

function startVoid(tree: PageBuilder, name: string, attributes: Attributes): void {
  const isHead = IN_HEAD.has(name)
  if (name === 'hr') closeParagraph(tree)
  else if (!isHead && !VOID_BLOCK.has(name)) tree.reconstruct()
  tree.insert(name, attributes)
  const isQuiet = isHead || KEEPS_FRAMES.has(name) || (name === 'input' && attributes.type?.toLowerCase() === 'hidden')
  if (!isQuiet) tree.framesetOk = false
}

/** Elements of the head, and others whose content is text. */
function startRaw(tree: PageBuilder, name: string, attributes: Attributes): void {
  if (name === 'xmp' || name === 'plaintext') closeParagraph(tree)
  if (name === 'xmp') tree.reconstruct()
  if (name === 'xmp' || name === 'iframe' || name === 'textarea') tree.framesetOk = false
  if (name === 'template') {
    tree.active.mark()
    tree.framesetOk = false
  }
  tree.insert(name, attributes)
}

function startFormatting(tree: PageBuilder, name: string, attributes: Attributes): void {
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

function startBlock(tree: PageBuilder, name: string, attributes: Attributes): void {
  closeParagraph(tree)
  if (name === 'pre' || name === 'listing') tree.framesetOk = false
  tree.insert(name, attributes)
}

function startHeading(tree: PageBuilder, name: string, attributes: Attributes): void {
  closeParagraph(tree)
  if (HEADING.has(tree.open.current.name)) tree.open.pop()
  tree.insert(name, attributes)
}

function startMarked(tree: PageBuilder, name: string, attributes: Attributes): void {
  tree.reconstruct()
  tree.insert(name, attributes)
  tree.active.mark()
  tree.framesetOk = false
}

/** An item ends the one before it in its list. */
function startItem(tree: PageBuilder, name: string, attributes: Attributes): void {
  const { open } = tree
  tree.framesetOk = false
  const ended = name === 'li' ? ['li'] : ['dd', 'dt']
  if (ended.some((each) => open.has(each))) {
    for (let index = open.depth - 1; index > 0 && open.spend(1); index--) {
      const element = open.at(index)!
      if (element.space === 'html' && ended.includes(element.name)) {
        open.generateImpliedEnds(element.name)
        open.popUntil(element.name)
        break
      }
      if (isSpecial(element) && !HOLDS_ITEMS.has(element.name)) break
    }
  }
  closeParagraph(tree)
  tree.insert(name, attributes)
}

function startOption(tree: PageBuilder, name: string, attributes: Attributes): void {
  if (tree.open.current.name === 'option') tree.open.pop()
  startOther(tree, name, attributes)
}

function startRuby(tree: PageBuilder, name: string, attributes: Attributes): void {
  const { open } = tree
  if (open.isInScope('usual', 'ruby')) open.generateImpliedEnds(name === 'rp' || name === 'rt' ? 'rtc' : '')
  tree.insert(name, attributes)
}

function startButton(tree: PageBuilder, name: string, attributes: Attributes): void {
  const { open } = tree
  if (open.isInScope('usual', 'button')) {
    open.generateImpliedEnds()
    open.popUntil('button')
  }
  startOther(tree, name, attributes)
  tree.framesetOk = false
}

function startForm(tree: PageBuilder, name: string, attributes: Attributes): void {
  const isTemplate = tree.open.has('template')
  if (tree.form !== null && !isTemplate) return
  closeParagraph(tree)
  const element = tree.insert(name, attributes)
  if (!isTemplate) tree.form = element
}

function startTable(tree: PageBuilder, name: string, attributes: Attributes): void {
  if (!tree.quirks) closeParagraph(tree)
  tree.insert(name, attributes)
  tree.framesetOk = false
}

function startSelect(tree: PageBuilder, name: string, attributes: Attributes): void {
  startOther(tree, name, attributes)
  tree.framesetOk = false
}

function startOther(tree: PageBuilder, name: string, attributes: Attributes): void {
  tree.reconstruct()
  tree.insert(name, attributes)
}
