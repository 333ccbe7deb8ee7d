/** Tags inside `select` (HTML, sections 13.2.6.4.16 and 13.2.6.4.17): the elements they close and imply. */

import { nameSet } from './element-names.ts'
import type { TagAttributes } from './tokenizer.ts'
import type { HtmlTreeBuilder } from './tree-builder.ts'

/** `body`: the rules of the body apply. `reprocess`: the tag closed the list, and the surrounding rules apply. */
export type SelectTagResult = 'done' | 'body' | 'reprocess'

const BODY_RULES = nameSet('script template')
const CLOSES_SELECT = nameSet('input keygen textarea')
const CLOSES_SELECT_IN_TABLE = nameSet('caption table tbody tfoot thead tr td th')

export function startInSelect(tree: HtmlTreeBuilder, name: string, attributes: TagAttributes): SelectTagResult {
  const { open } = tree
  if (BODY_RULES.has(name)) return 'body'
  if (name === 'select' || CLOSES_SELECT.has(name) || (CLOSES_SELECT_IN_TABLE.has(name) && isInTable(tree))) {
    open.popUntil('select')
    return name === 'select' ? 'done' : 'reprocess'
  }
  if (name !== 'option' && name !== 'optgroup' && name !== 'hr') return 'done'
  if (open.current.name === 'option') open.pop()
  if (name !== 'option' && open.current.name === 'optgroup') open.pop()
  tree.insert(name, attributes)
  return 'done'
}

export function endInSelect(tree: HtmlTreeBuilder, name: string): SelectTagResult {
  const { open } = tree
  if (name === 'template') return 'body'
  if (name === 'option') {
    if (open.current.name === 'option') open.pop()
  } else if (name === 'optgroup') {
    if (open.current.name === 'option' && open.at(open.depth - 2)?.name === 'optgroup') open.pop()
    if (open.current.name === 'optgroup') open.pop()
  } else if (name === 'select') open.popUntil('select')
  else if (CLOSES_SELECT_IN_TABLE.has(name) && isInTable(tree) && open.isInScope('table', name)) {
    open.popUntil('select')
    return 'reprocess'
  }
  return 'done'
}

/** Whether the list is inside a table. */
function isInTable({ open }: HtmlTreeBuilder): boolean {
  let index = open.depth - 1
  while (index > 0 && open.at(index)!.name !== 'select') index--
  return index > 0 && open.at(index - 1)!.mode !== 'body'
}
