/** Checks source files against the architecture rules. Each violation is one sentence. */

import { importCycles } from './import-cycles.ts'
import type { Import, Source } from './source.ts'

/** `folder`: the beginning of the paths of its files. `pure`: no time, randomness, files or waits. */
type Folder = { folder: string; pure?: true; awaits?: true; package?: string; why: string }
type RestrictedFolder = { folders: string[]; importers: string[]; why: string }
type ModuleException = { folder: string; module: string; names: string[] }
type ModuleOwner = { modules: string[]; folders: string[]; except: ModuleException[]; why: string }

export type ArchitectureRules = {
  layers: Folder[][]
  restricted: RestrictedFolder[]
  moduleOwners: ModuleOwner[]
  impure: { modules: string[]; names: string[]; uses: Record<string, string[]> }
  forbiddenFileNames: string[]
  /** Files in one folder, without those of its subfolders. `largeFolders` may have more. */
  maxFolderFiles: number
  largeFolders: string[]
  maxFileLines: number
  maxFunctionLines: number
}

type LayeredFolder = Folder & { layer: number }

export function checkSources(sources: Source[], rules: ArchitectureRules): string[] {
  const folders = rules.layers.flatMap((layer, index) => layer.map((folder) => ({ ...folder, layer: index })))
  const violations = sources.flatMap((source) => {
    const own = folderOf(source.path, folders)
    if (own === null) return [`${source.path} is in no folder of the rules`]
    return [
      ...source.imports.flatMap((each) => checkImport(source.path, own, withPath(each, folders), folders, rules)),
      ...checkUses(source, own, rules),
      ...checkShape(source, rules),
    ]
  })
  const cycles = importCycles(sources).map((cycle) => `${cycle.join(' -> ')} is an import cycle`)
  return [...violations, ...cycles, ...checkFolderSizes(sources, rules)]
}

function checkFolderSizes(sources: Source[], { maxFolderFiles, largeFolders }: ArchitectureRules): string[] {
  const counts = new Map<string, number>()
  for (const { path } of sources) {
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts]
    .filter(([folder, count]) => count > maxFolderFiles && !largeFolders.includes(folder))
    .map(([folder, count]) => `${folder} has ${count} files, at most ${maxFolderFiles} are allowed: add subfolders`)
}

/** The longest folder of the rules that a path begins with. */
function folderOf(path: string, folders: LayeredFolder[]): LayeredFolder | null {
  const found = folders
    .filter(({ folder }) => path.startsWith(folder))
    .sort((a, b) => b.folder.length - a.folder.length)
  return found[0] ?? null
}

/** An import of our own package is an import of its folder. */
function withPath(each: Import, folders: LayeredFolder[]): Import {
  const found = folders.find((folder) => folder.package !== undefined && folder.package === each.target)
  return found === undefined ? each : { ...each, target: found.folder, isOurs: true }
}

function checkImport(
  path: string,
  own: LayeredFolder,
  imported: Import,
  folders: LayeredFolder[],
  rules: ArchitectureRules,
): string[] {
  if (!imported.isOurs)
    return [...checkModule(path, own, imported, rules), ...checkImpureModule(path, own, imported, rules)]
  const other = folderOf(imported.target, folders)
  const says = `${path} imports ${imported.target}, which`
  if (other === null) return /\.tsx?$/.test(imported.target) ? [`${says} is in no folder of the rules`] : []
  if (other.folder === own.folder) return []
  const violations: string[] = []
  if (other.layer > own.layer) violations.push(`${says} is in a higher layer`)
  if (other.layer === own.layer) violations.push(`${says} is in the same layer`)
  for (const { importers, why } of rules.restricted.filter(({ folders }) => folders.includes(other.folder))) {
    const allowed = importers.length === 0 ? 'nobody may import' : `only ${importers.join(', ')} may import`
    if (!importers.includes(own.folder)) violations.push(`${says} ${allowed}: ${why}`)
  }
  if (own.pure && !other.pure && imported.names.length > 0 && other.layer < own.layer)
    violations.push(`${path} is pure and imports ${imported.names.join(', ')} from ${imported.target}, which is not`)
  return violations
}

function checkModule(
  path: string,
  own: LayeredFolder,
  { target, names }: Import,
  { moduleOwners }: ArchitectureRules,
): string[] {
  return moduleOwners
    .filter(({ modules, folders }) => modules.includes(target) && !folders.includes(own.folder))
    .flatMap(({ except, why }) => {
      const allowed = except.filter(({ folder, module }) => folder === own.folder && module === target)
      const forbidden = names.filter((name) => !allowed.some((each) => each.names.includes(name)))
      return forbidden.map((name) => `${path} imports ${name} from ${target}: ${why}`)
    })
}

function checkImpureModule(
  path: string,
  own: LayeredFolder,
  { target, names }: Import,
  { impure }: ArchitectureRules,
): string[] {
  if (!own.pure) return []
  const forbidden = names.filter((name) => impure.modules.includes(target) || impure.names.includes(name))
  return forbidden.map((name) => `${path} is pure and imports ${name} from ${target}`)
}

function checkUses({ path, uses }: Source, own: LayeredFolder, { impure }: ArchitectureRules): string[] {
  if (!own.pure) return []
  const forbidden = Object.values(impure.uses).flat()
  return uses
    .filter(({ what }) => forbidden.includes(what) && !(what === 'await' && own.awaits))
    .map(({ what, line }) => `${path}:${line} is pure and uses ${what}`)
}

function checkShape({ path, lines, opening, functions }: Source, rules: ArchitectureRules): string[] {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const { maxFunctionLines, maxFileLines } = rules
  const violations = functions
    .filter((each) => each.lines > maxFunctionLines)
    .map(
      (each) => `${path}:${each.line} has a function of ${each.lines} lines, at most ${maxFunctionLines} are allowed`,
    )
  if (rules.forbiddenFileNames.includes(name)) violations.push(`${path}: the file name ${name} is not allowed`)
  if (!/^\S+\s.*\.(\s|$)/s.test(opening)) violations.push(`${path} does not begin with a sentence that says what it is`)
  if (lines > maxFileLines) violations.push(`${path} has ${lines} lines, at most ${maxFileLines} are allowed`)
  return violations
}
