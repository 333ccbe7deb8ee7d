/** Tags inside a table (HTML, sections 13.2.6.4.9 to 13.2.6.4.15): the elements they close and imply. */

import { handleBodyEndTag } from './body-end-tags.ts'
import { handleBodyStartTag } from './body-start-tags.ts'
import { nameSet, TABLE_CELLS, TABLE_PARTS, TABLE_SECTIONS } from './element-names.ts'
import { endInSelect, type SelectTagResult, startInSelect } from './select.ts'
import type { TagAttributes } from './tokenizer.ts'
import type { HtmlTreeBuilder } from './tree-builder.ts'

const TABLE_CONTEXT = nameSet('table')
const ROW_CONTEXT = nameSet('tr')
const SECTION_NAMES = [...TABLE_SECTIONS]
const CELL_NAMES = [...TABLE_CELLS]
const IN_TABLE_ITSELF = nameSet('style script template')
const ROW_ANCESTORS = nameSet('caption col colgroup tbody tfoot thead')
const IGNORED_IN_TABLE = nameSet('body caption col colgroup html')

/** Handles a start tag by the rules of tables. Returns false if those of the body apply. */
export function handleTableStartTag(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): boolean {
  switch (tree.open.current.mode) {
    case 'cell':
      if (!TABLE_PARTS.has(name)) return false
      return !closeCell(tree) || handleTableStartTag(tree, name, attributes)
    case 'row':
      return startInRow(tree, name, attributes)
    case 'section':
      return startInSection(tree, name, attributes)
    case 'table':
      return startInTable(tree, name, attributes)
    case 'caption':
      if (!TABLE_PARTS.has(name)) return false
      return !closeCaption(tree) || handleTableStartTag(tree, name, attributes)
    case 'colgroup':
      return startInColumns(tree, name, attributes)
    case 'select':
      return isHandledBySelect(startInSelect(tree, name, attributes), () => handleTableStartTag(tree, name, attributes))
    default:
      return false
  }
}

/** Handles an end tag by the rules of tables. Returns false if those of the body apply. */
export function handleTableEndTag(tree: HtmlTreeBuilder, name: string): boolean {
  switch (tree.open.current.mode) {
    case 'cell':
      return endInCell(tree, name)
    case 'row':
      return endInRow(tree, name)
    case 'section':
      return endInSection(tree, name)
    case 'table':
      return endInTable(tree, name)
    case 'caption':
      if (name === 'caption') return closeCaption(tree) || true
      if (name === 'table') return !closeCaption(tree) || handleTableEndTag(tree, name)
      return IGNORED_IN_TABLE.has(name) || TABLE_PARTS.has(name)
    case 'colgroup':
      return endInColumns(tree, name)
    case 'select':
      return isHandledBySelect(endInSelect(tree, name), () => handleTableEndTag(tree, name))
    default:
      return false
  }
}

function isHandledBySelect(result: SelectTagResult, reprocess: () => boolean): boolean {
  return result === 'reprocess' ? reprocess() : result === 'done'
}

/** Returns false if no cell is open. */
function closeCell({ open, active }: HtmlTreeBuilder): boolean {
  if (!open.isOneInScope('table', CELL_NAMES)) return false
  open.generateImpliedEnds()
  open.popUntilOne(CELL_NAMES)
  active.clearToMarker()
  return true
}

function closeCaption({ open, active }: HtmlTreeBuilder): boolean {
  if (!open.isInScope('table', 'caption')) return false
  open.generateImpliedEnds()
  open.popUntil('caption')
  active.clearToMarker()
  return true
}

/** Closes the row. Returns false if none is open. */
function closeRow({ open }: HtmlTreeBuilder): boolean {
  if (!open.isInScope('table', 'tr')) return false
  open.clearTo(ROW_CONTEXT)
  open.pop()
  return true
}

function closeSection({ open }: HtmlTreeBuilder): boolean {
  if (!open.isOneInScope('table', SECTION_NAMES)) return false
  open.clearTo(TABLE_SECTIONS)
  open.pop()
  return true
}

function startInRow(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): boolean {
  if (TABLE_CELLS.has(name)) {
    tree.open.clearTo(ROW_CONTEXT)
    tree.insert(name, attributes)
    tree.active.pushMarker()
    return true
  }
  if (!ROW_ANCESTORS.has(name) && name !== 'tr') return startInTable(tree, name, attributes)
  return !closeRow(tree) || handleTableStartTag(tree, name, attributes)
}

function startInSection(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): boolean {
  if (name === 'tr') {
    tree.open.clearTo(TABLE_SECTIONS)
    tree.insert(name, attributes)
    return true
  }
  if (TABLE_CELLS.has(name)) {
    tree.open.clearTo(TABLE_SECTIONS)
    return !tree.insert('tr').isOpen || handleTableStartTag(tree, name, attributes)
  }
  if (!ROW_ANCESTORS.has(name)) return startInTable(tree, name, attributes)
  return !closeSection(tree) || handleTableStartTag(tree, name, attributes)
}

/** The parent that a part of a table implies. */
const IMPLIED_PARENT = new Map([
  ['col', 'colgroup'],
  ['td', 'tbody'],
  ['th', 'tbody'],
  ['tr', 'tbody'],
])

function startInTable(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): boolean {
  const { open } = tree
  if (TABLE_PARTS.has(name)) {
    open.clearTo(TABLE_CONTEXT)
    const parent = IMPLIED_PARENT.get(name)
    if (name === 'caption') tree.active.pushMarker()
    const element = tree.insert(parent ?? name, parent === undefined ? attributes : undefined)
    return parent === undefined || !element.isOpen || handleTableStartTag(tree, name, attributes)
  }
  if (name === 'table') {
    if (!open.isInScope('table', 'table')) return true
    open.popUntil('table')
    return handleTableStartTag(tree, name, attributes)
  }
  if (IN_TABLE_ITSELF.has(name)) return false
  if (name === 'input' && attributes.type?.toLowerCase() === 'hidden') tree.insert(name, attributes)
  else if (name === 'form') {
    if (tree.form !== null || open.has('template')) return true
    tree.form = tree.insert(name, attributes)
    if (tree.form.isOpen) open.pop()
  } else tree.withFosterParenting(() => handleBodyStartTag(tree, name, attributes))
  return true
}

function startInColumns(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): boolean {
  if (name === 'col') tree.insert(name, attributes)
  if (name === 'col' || name === 'html') return true
  if (name === 'template') return false
  if (tree.open.current.name !== 'colgroup') return true
  tree.open.pop()
  return handleTableStartTag(tree, name, attributes)
}

function endInCell(tree: HtmlTreeBuilder, name: string): boolean {
  const { open, active } = tree
  if (TABLE_CELLS.has(name)) {
    if (!open.isInScope('table', name)) return true
    open.generateImpliedEnds()
    open.popUntil(name)
    active.clearToMarker()
    return true
  }
  if (IGNORED_IN_TABLE.has(name)) return true
  if (name !== 'table' && name !== 'tr' && !TABLE_SECTIONS.has(name)) return false
  if (!open.isInScope('table', name)) return true
  closeCell(tree)
  return handleTableEndTag(tree, name)
}

function endInRow(tree: HtmlTreeBuilder, name: string): boolean {
  if (name === 'tr') closeRow(tree)
  else if (name === 'table') return !closeRow(tree) || handleTableEndTag(tree, name)
  else if (TABLE_SECTIONS.has(name))
    return !tree.open.isInScope('table', name) || !closeRow(tree) || handleTableEndTag(tree, name)
  else if (!IGNORED_IN_TABLE.has(name) && !TABLE_CELLS.has(name)) return endInTable(tree, name)
  return true
}

function endInSection(tree: HtmlTreeBuilder, name: string): boolean {
  const { open } = tree
  if (TABLE_SECTIONS.has(name)) {
    if (!open.isInScope('table', name)) return true
    open.clearTo(TABLE_SECTIONS)
    open.pop()
  } else if (name === 'table') return !closeSection(tree) || handleTableEndTag(tree, name)
  else if (!IGNORED_IN_TABLE.has(name) && !TABLE_CELLS.has(name) && name !== 'tr') return endInTable(tree, name)
  return true
}

function endInTable(tree: HtmlTreeBuilder, name: string): boolean {
  const { open } = tree
  if (name === 'table') {
    if (open.isInScope('table', 'table')) open.popUntil('table')
  } else if (name === 'template') return false
  else if (!IGNORED_IN_TABLE.has(name) && !TABLE_PARTS.has(name))
    tree.withFosterParenting(() => handleBodyEndTag(tree, name))
  return true
}

function endInColumns(tree: HtmlTreeBuilder, name: string): boolean {
  const { open } = tree
  if (name === 'template') return false
  if (name === 'col' || open.current.name !== 'colgroup') return true
  open.pop()
  return name === 'colgroup' || handleTableEndTag(tree, name)
}
