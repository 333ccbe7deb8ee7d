/** Tags in a table (HTML, chapters 13.2.6.4.9 to 13.2.6.4.15): what they end and imply. */

import { readBodyStart } from './page-body.ts'
import { readBodyEnd } from './page-body-end.ts'
import type { PageBuilder } from './page-builder.ts'
import { CELL, TABLE_PART, TABLE_SECTION, words } from './page-names.ts'
import { endInSelect, type Reading, startInSelect } from './page-select.ts'
import type { Attributes } from './page-tokens.ts'

const TABLE = words('table')
const ROW = words('tr')
const SECTIONS = [...TABLE_SECTION]
const CELLS = [...CELL]
const IN_TABLE_ITSELF = words('style script template')
const AROUND_ROW = words('caption col colgroup tbody tfoot thead')
const KEPT_OUT = words('body caption col colgroup html')

/** Reads a start tag by the rules of tables; false where those of the body count. */
export function readTableStart(tree: PageBuilder, name: string, attributes: Attributes): boolean {
  switch (tree.open.current.mode) {
    case 'cell':
      if (!TABLE_PART.has(name)) return false
      return !closeCell(tree) || readTableStart(tree, name, attributes)
    case 'row':
      return startInRow(tree, name, attributes)
    case 'section':
      return startInSection(tree, name, attributes)
    case 'table':
      return startInTable(tree, name, attributes)
    case 'caption':
      if (!TABLE_PART.has(name)) return false
      return !closeCaption(tree) || readTableStart(tree, name, attributes)
    case 'colgroup':
      return startInColumns(tree, name, attributes)
    case 'select':
      return settled(startInSelect(tree, name, attributes), () => readTableStart(tree, name, attributes))
    default:
      return false
  }
}

/** The same of an end tag. */
export function readTableEnd(tree: PageBuilder, name: string): boolean {
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
      if (name === 'table') return !closeCaption(tree) || readTableEnd(tree, name)
      return KEPT_OUT.has(name) || TABLE_PART.has(name)
    case 'colgroup':
      return endInColumns(tree, name)
    case 'select':
      return settled(endInSelect(tree, name), () => readTableEnd(tree, name))
    default:
      return false
  }
}

function settled(reading: Reading, again: () => boolean): boolean {
  return reading === 'again' ? again() : reading === 'done'
}

/** False where no cell is open. */
function closeCell({ open, active }: PageBuilder): boolean {
  if (!open.isOneInScope('table', CELLS)) return false
  open.generateImpliedEnds()
  open.popUntilOne(CELLS)
  active.clearToMarker()
  return true
}

function closeCaption({ open, active }: PageBuilder): boolean {
  if (!open.isInScope('table', 'caption')) return false
  open.generateImpliedEnds()
  open.popUntil('caption')
  active.clearToMarker()
  return true
}

/** Ends the row; false where none is open. */
function closeRow({ open }: PageBuilder): boolean {
  if (!open.isInScope('table', 'tr')) return false
  open.clearTo(ROW)
  open.pop()
  return true
}

function closeSection({ open }: PageBuilder): boolean {
  if (!open.isOneInScope('table', SECTIONS)) return false
  open.clearTo(TABLE_SECTION)
  open.pop()
  return true
}

function startInRow(tree: PageBuilder, name: string, attributes: Attributes): boolean {
  if (CELL.has(name)) {
    tree.open.clearTo(ROW)
    tree.insert(name, attributes)
    tree.active.mark()
    return true
  }
  if (!AROUND_ROW.has(name) && name !== 'tr') return startInTable(tree, name, attributes)
  return !closeRow(tree) || readTableStart(tree, name, attributes)
}

function startInSection(tree: PageBuilder, name: string, attributes: Attributes): boolean {
  if (name === 'tr') {
    tree.open.clearTo(TABLE_SECTION)
    tree.insert(name, attributes)
    return true
  }
  if (CELL.has(name)) {
    tree.open.clearTo(TABLE_SECTION)
    return !tree.insert('tr').isOpen || readTableStart(tree, name, attributes)
  }
  if (!AROUND_ROW.has(name)) return startInTable(tree, name, attributes)
  return !closeSection(tree) || readTableStart(tree, name, attributes)
}

/** The element that a part of a table stands in. */
const PARENT = new Map([
  ['col', 'colgroup'],
  ['td', 'tbody'],
  ['th', 'tbody'],
  ['tr', 'tbody'],
])

function startInTable(tree: PageBuilder, name: string, attributes: Attributes): boolean {
  const { open } = tree
  if (TABLE_PART.has(name)) {
    open.clearTo(TABLE)
    const parent = PARENT.get(name)
    if (name === 'caption') tree.active.mark()
    const element = tree.insert(parent ?? name, parent === undefined ? attributes : undefined)
    return parent === undefined || !element.isOpen || readTableStart(tree, name, attributes)
  }
  if (name === 'table') {
    if (!open.isInScope('table', 'table')) return true
    open.popUntil('table')
    return readTableStart(tree, name, attributes)
  }
  if (IN_TABLE_ITSELF.has(name)) return false
  if (name === 'input' && attributes.type?.toLowerCase() === 'hidden') tree.insert(name, attributes)
  else if (name === 'form') {
    if (tree.form !== null || open.has('template')) return true
    tree.form = tree.insert(name, attributes)
    if (tree.form.isOpen) open.pop()
  } else tree.fostering(() => readBodyStart(tree, name, attributes))
  return true
}

function startInColumns(tree: PageBuilder, name: string, attributes: Attributes): boolean {
  if (name === 'col') tree.insert(name, attributes)
  if (name === 'col' || name === 'html') return true
  if (name === 'template') return false
  if (tree.open.current.name !== 'colgroup') return true
  tree.open.pop()
  return readTableStart(tree, name, attributes)
}

function endInCell(tree: PageBuilder, name: string): boolean {
  const { open, active } = tree
  if (CELL.has(name)) {
    if (!open.isInScope('table', name)) return true
    open.generateImpliedEnds()
    open.popUntil(name)
    active.clearToMarker()
    return true
  }
  if (KEPT_OUT.has(name)) return true
  if (name !== 'table' && name !== 'tr' && !TABLE_SECTION.has(name)) return false
  if (!open.isInScope('table', name)) return true
  closeCell(tree)
  return readTableEnd(tree, name)
}

function endInRow(tree: PageBuilder, name: string): boolean {
  if (name === 'tr') closeRow(tree)
  else if (name === 'table') return !closeRow(tree) || readTableEnd(tree, name)
  else if (TABLE_SECTION.has(name))
    return !tree.open.isInScope('table', name) || !closeRow(tree) || readTableEnd(tree, name)
  else if (!KEPT_OUT.has(name) && !CELL.has(name)) return endInTable(tree, name)
  return true
}

function endInSection(tree: PageBuilder, name: string): boolean {
  const { open } = tree
  if (TABLE_SECTION.has(name)) {
    if (!open.isInScope('table', name)) return true
    open.clearTo(TABLE_SECTION)
    open.pop()
  } else if (name === 'table') return !closeSection(tree) || readTableEnd(tree, name)
  else if (!KEPT_OUT.has(name) && !CELL.has(name) && name !== 'tr') return endInTable(tree, name)
  return true
}

function endInTable(tree: PageBuilder, name: string): boolean {
  const { open } = tree
  if (name === 'table') {
    if (open.isInScope('table', 'table')) open.popUntil('table')
  } else if (name === 'template') return false
  else if (!KEPT_OUT.has(name) && !TABLE_PART.has(name)) tree.fostering(() => readBodyEnd(tree, name))
  return true
}

function endInColumns(tree: PageBuilder, name: string): boolean {
  const { open } = tree
  if (name === 'template') return false
  if (name === 'col' || open.current.name !== 'colgroup') return true
  open.pop()
  return name === 'colgroup' || readTableEnd(tree, name)
}
