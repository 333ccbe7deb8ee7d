/** Reads one source file: its opening comment, its imports, what it uses, and its length and that of its functions. */

import { posix } from 'node:path'
import { type Node, parseSync, Visitor, type VisitorObject } from 'oxc-parser'

/**
 * `target`: a path in the repository if `isOurs`, otherwise a package or built-in without `node:`.
 * `names`: the imported values, `*` for all; empty if the file imports only types.
 */
export type Import = { target: string; isOurs: boolean; names: string[] }

/** A called name, a member such as `Date.now`, `new Date()` or `await`, at a line. */
type Use = { what: string; line: number }

type FunctionSize = { line: number; lines: number }

export type Source = {
  path: string
  lines: number
  opening: string
  imports: Import[]
  uses: Use[]
  functions: FunctionSize[]
}

/**
 * Reads `text` as the file at `path` (from the root of the repository, with slashes). Throws if it is no TypeScript.
 */
export function readSource(path: string, text: string): Source {
  const { program, comments, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`)
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  const imports: Import[] = []
  const uses: Use[] = []
  const functions: FunctionSize[] = []
  const visitors = [
    importVisitor((specifier, names) => imports.push({ ...resolve(path, specifier), names })),
    useVisitor((what, { start }) => uses.push({ what, line: lineAt(start) })),
    functionVisitor(({ start, end }) =>
      functions.push({ line: lineAt(start), lines: lineAt(end) - lineAt(start) + 1 }),
    ),
  ]
  for (const visitor of visitors) new Visitor(visitor).visit(program)
  const [first] = comments
  const opensWithIt = first !== undefined && /^(#!.*)?\s*$/.test(text.slice(0, first.start))
  const opening = opensWithIt ? first.value.replace(/^\s*\*+/gm, '').trim() : ''
  return { path, lines: lineAt(text.trimEnd().length), opening, imports, uses, functions }
}

const resolve = (path: string, specifier: string) =>
  specifier.startsWith('.')
    ? { target: posix.join(posix.dirname(path), specifier), isOurs: true }
    : { target: specifier.replace(/^node:/, ''), isOurs: false }

/** Import and export declarations, import(), types by import(), and URLs of workers. */
function importVisitor(add: (specifier: string, names: string[]) => void): VisitorObject {
  return {
    ImportDeclaration({ source, specifiers, importKind }) {
      const values = specifiers.filter((each) => each.type !== 'ImportSpecifier' || each.importKind !== 'type')
      add(source.value, importKind === 'type' ? [] : values.map(importedName))
    },
    ExportNamedDeclaration({ source, specifiers, exportKind }) {
      const values = specifiers.filter((each) => each.exportKind !== 'type')
      if (source !== null) add(source.value, exportKind === 'type' ? [] : values.map(({ local }) => nameOf(local)))
    },
    ExportAllDeclaration: ({ source, exportKind }) => add(source.value, exportKind === 'type' ? [] : ['*']),
    ImportExpression({ source }) {
      const specifier = textOf(source)
      if (specifier !== null) add(specifier, ['*'])
    },
    TSImportType: ({ source }) => add(source.value, []),
    NewExpression({ callee, arguments: [first] }) {
      const address = nameOf(callee) === 'URL' ? textOf(first) : null
      if (address !== null && /^\..*\.tsx?$/.test(address)) add(address, ['*'])
    },
  }
}

function useVisitor(use: (what: string, node: Node) => void): VisitorObject {
  return {
    CallExpression: (node) => use(nameOf(node.callee), node),
    MemberExpression: (node) => use(`${nameOf(node.object)}.${nameOf(node.property)}`, node),
    NewExpression: (node) => use(`new ${nameOf(node.callee)}(${node.arguments.length === 0 ? '' : '…'})`, node),
    AwaitExpression: (node) => use('await', node),
    ForOfStatement(node) {
      if (node.await) use('await', node)
    },
  }
}

const functionVisitor = (measure: (node: Node) => void): VisitorObject => ({
  FunctionDeclaration: measure,
  FunctionExpression: measure,
  ArrowFunctionExpression: measure,
})

const importedName = (specifier: { type: string; imported?: Node }) => {
  if (specifier.imported !== undefined) return nameOf(specifier.imported)
  return specifier.type === 'ImportDefaultSpecifier' ? 'default' : '*'
}

const nameOf = (node: Node) => (node.type === 'Identifier' ? node.name : (textOf(node) ?? '?'))

const textOf = (node: Node | undefined) =>
  node?.type === 'Literal' && typeof node.value === 'string' ? node.value : null
