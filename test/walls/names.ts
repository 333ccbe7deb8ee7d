/** The names that a TypeScript file declares, and which of them it exports. */

import { parseSync, Visitor } from 'oxc-parser'

/** `line` counts from 1. `isExported`: the declaration itself is exported (a re-export declares nothing). */
export type DeclaredName = { name: string; line: number; isExported: boolean }

type Pattern = { type: string; start: number; name?: string; [key: string]: unknown }

/** Every declared function, class, type, variable, parameter, field and method of `text`, the file at `path`. */
export function readDeclaredNames(path: string, text: string): DeclaredName[] {
  const { program, module } = parseSync(path, text)
  const exported = new Set(
    module.staticExports.flatMap(({ entries }) =>
      entries.filter(({ moduleRequest }) => moduleRequest === null).map(({ localName }) => localName.name),
    ),
  )
  const topLevel = new Set<number>()
  const names: DeclaredName[] = []
  const add = (node: unknown, isTopLevel = false) => {
    for (const { name, start } of boundNames(node as Pattern | null)) {
      const line = text.slice(0, start).split('\n').length
      names.push({ name, line, isExported: (isTopLevel || topLevel.has(start)) && exported.has(name) })
    }
  }
  for (const statement of program.body) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declaration === null) continue
    if ('id' in declaration && declaration.id) topLevel.add((declaration.id as { start: number }).start)
    if (declaration.type === 'VariableDeclaration')
      for (const { id } of declaration.declarations)
        for (const { start } of boundNames(id as unknown as Pattern)) topLevel.add(start)
  }
  const declares = ({ id }: { id?: unknown }) => add(id)
  const keyed = ({ key, computed }: { key: unknown; computed: boolean }) => {
    if (!computed) add(key)
  }
  const takes = ({ id, params }: { id?: unknown; params: unknown[] }) => {
    add(id)
    for (const parameter of params) add(parameter)
  }
  new Visitor({
    VariableDeclarator: declares,
    ClassDeclaration: declares,
    TSTypeAliasDeclaration: declares,
    TSInterfaceDeclaration: declares,
    FunctionDeclaration: takes,
    FunctionExpression: takes,
    ArrowFunctionExpression: takes,
    TSPropertySignature: keyed,
    TSMethodSignature: keyed,
    PropertyDefinition: keyed,
    MethodDefinition: keyed,
  }).visit(program)
  return names
}

/** The identifiers that a pattern binds: a name, or the names within `{ a, b: c }`, `[a]`, `a = 1` and `...a`. */
function boundNames(node: Pattern | null | undefined): { name: string; start: number }[] {
  if (!node) return []
  if ((node.type === 'Identifier' || node.type === 'PrivateIdentifier') && node.name !== undefined)
    return [{ name: node.name, start: node.start }]
  const below = [node.left, node.argument, node.value, node.parameter]
  const lists = [node.properties, node.elements].flatMap((list) => (Array.isArray(list) ? list : []))
  return [...below, ...lists].flatMap((each) => boundNames(each as Pattern | null | undefined))
}
