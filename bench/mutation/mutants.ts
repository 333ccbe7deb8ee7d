/** The mutants of a source file: each is one small change that a test should notice. */

import { parseSync } from 'oxc-parser'

/** Replaces the text from `start` to `end`. `what`: the change, for people. `code`: the line that it is in. */
export type Mutant = { start: number; end: number; text: string; line: number; code: string; what: string }

type Node = { type: string; start: number; end: number } & Record<string, unknown>

const SWAPPED_OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&': '|',
  '|': '&',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&&': '||',
  '||': '&&',
  '??': '&&',
}
/** Nodes of types, which do not exist while the code runs, and messages, whose texts no test should repeat. */
const SKIPPED =
  /^(?:TS(?!AsExpression|NonNullExpression|SatisfiesExpression)|Import|Export(?:All|Specifier)|ThrowStatement)/

export function mutantsOf(path: string, source: string): Mutant[] {
  const mutants: Mutant[] = []
  const lines = source.split('\n')
  const add = (start: number, end: number, text: string): void => {
    const line = source.slice(0, start).split('\n').length
    const what = `${shorten(source.slice(start, end))} → ${shorten(text) || 'nothing'}`
    mutants.push({ start, end, text, line, code: lines[line - 1]!.trim(), what })
  }
  visit(parseSync(path, source).program as unknown as Node, source, add)
  return mutants
}

function shorten(code: string): string {
  return code.replaceAll(/\s+/g, ' ').slice(0, 60)
}

type Add = (start: number, end: number, text: string) => void

function visit(node: Node, source: string, add: Add): void {
  if (SKIPPED.test(node.type)) return
  mutate(node, source, add)
  for (const [key, value] of Object.entries(node)) {
    if (key === 'typeAnnotation' || key === 'key' || key === 'source') continue
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, source, add)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function mutate(node: Node, source: string, add: Add): void {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      swapOperator(node, source, add)
      return
    case 'Literal':
      changeLiteral(node, add)
      return
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = node.test as Node
      add(test.start, test.end, `!(${source.slice(test.start, test.end)})`)
      return
    }
    case 'ExpressionStatement':
      if ((node.expression as Node).type !== 'Literal') add(node.start, node.end, ';')
      return
    case 'UnaryExpression':
      if (node.operator === '!') add(node.start, node.start + 1, '')
      return
    case 'UpdateExpression': {
      const operator = node.operator === '++' ? '--' : '++'
      const at = node.prefix === true ? node.start : node.end - 2
      add(at, at + 2, operator)
      return
    }
    default:
  }
}

function swapOperator(node: Node, source: string, add: Add): void {
  const operator = node.operator as string
  const swapped = SWAPPED_OPERATORS[operator]
  if (swapped === undefined) return
  const at = source.indexOf(operator, (node.left as Node).end)
  add(at, at + operator.length, swapped)
}

function changeLiteral(node: Node, add: Add): void {
  const { value, start, end } = node
  if (typeof value === 'boolean') add(start, end, String(!value))
  else if (typeof value === 'number') add(start, end, String(value + 1))
  else if (typeof value === 'bigint') add(start, end, `${value + 1n}n`)
  else if (typeof value === 'string' && value !== '') add(start, end, "''")
}
