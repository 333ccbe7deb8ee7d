/** Builds the files of the web page from `web/`: bundled, minified, hashed and compressed once. */

import { createHash, randomUUID } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { BuildOptions, Metafile, OutputFile, Plugin } from 'esbuild'

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SOURCE_FOLDER = join(ROOT, 'web')
const CACHE_FOLDER = join(ROOT, 'node_modules/.cache/domaindex-web')
/** The file that names all others. A folder that has it is complete. */
export const MANIFEST_FILE = 'manifest.json'

/**
 * The names of the files of a bundle by their role. `shared`: what `main` and the areas import. `areas`: by the name of
 * the area. `boot` is in the document. `files`: those that browsers load.
 */
export type PageManifest = {
  main: string
  shared: string[]
  areas: Record<string, string>
  style: string
  boot: string
  icon: string
  files: string[]
}

/**
 * Returns the folder of the bundle. An installed package contains it. A checkout builds it if its sources have changed
 * since the last time. Throws if esbuild is missing or if the sources cannot be bundled.
 */
export async function preparePageBundle(): Promise<string> {
  if (existsSync(join(SOURCE_FOLDER, MANIFEST_FILE))) return SOURCE_FOLDER
  const folder = join(CACHE_FOLDER, sourceDigest())
  if (!existsSync(join(folder, MANIFEST_FILE))) await buildPageBundle(folder)
  return folder
}

/** Bundles `web/` into a folder, which it replaces. Processes that build the same folder at once do no harm. */
export async function buildPageBundle(folder: string): Promise<void> {
  const temporary = `${folder}.${randomUUID()}`
  mkdirSync(temporary, { recursive: true })
  try {
    const { files, ...roles } = await bundlePage()
    const boot = await bundleBoot(roles.areas)
    writeFileSync(join(temporary, boot.file), boot.content)
    for (const { file, content } of files) await writeCompressed(join(temporary, file), content)
    const manifest: PageManifest = { ...roles, boot: boot.file, files: files.map(({ file }) => file) }
    writeFileSync(join(temporary, MANIFEST_FILE), JSON.stringify(manifest))
    replaceFolder(temporary, folder)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

type BundledFile = { file: string; content: Uint8Array }

type BundledPage = Omit<PageManifest, 'boot' | 'files'> & { files: BundledFile[] }

/**
 * Bundles everything but the script in the document. esbuild makes a file for each set of areas that share a module,
 * and each file would be a request. So this function bundles the scripts twice, the second time with all shared modules
 * in each area: then there is one shared file.
 */
async function bundlePage(): Promise<BundledPage> {
  const { metafile } = await bundle(SCRIPTS)
  const { entries, shared } = splitOf(metafile)
  const { outputFiles, metafile: split } = await bundle({
    ...SCRIPTS,
    entryPoints: { ...SCRIPTS.entryPoints, style: 'style/style.css', icon: 'style/icon.svg' },
    plugins: [importing(shared, Object.keys(entries))],
  })
  const files = outputFiles.map(({ path, contents }) => ({ file: basename(path), content: contents }))
  const named = (name: string): string => files.find(({ file }) => file.startsWith(`${name}-`))!.file
  const { entries: fileOf, others } = splitOf(split)
  const areas = Object.entries(fileOf).flatMap(([path, file]) => {
    const [, area] = /^views\/([\w-]+)\/area\.tsx$/.exec(path) ?? []
    return area === undefined ? [] : [[area, file] as const]
  })
  return {
    main: named('main'),
    shared: others,
    areas: Object.fromEntries(areas),
    style: named('style'),
    icon: named('icon'),
    files,
  }
}

async function bundleBoot(areas: Record<string, string>): Promise<BundledFile> {
  const { outputFiles } = await bundle({
    entryPoints: { boot: 'boot.ts' },
    format: 'iife',
    define: { AREA_FILES: JSON.stringify(areas) },
  })
  const [{ path, contents }] = outputFiles as [OutputFile]
  return { file: basename(path), content: contents }
}

const SCRIPTS = {
  entryPoints: { main: 'main.tsx' },
  format: 'esm',
  splitting: true,
} satisfies BuildOptions

async function bundle(options: Pick<BuildOptions, 'entryPoints' | 'format' | 'splitting' | 'define' | 'plugins'>) {
  const { build } = await import('esbuild')
  return build({
    absWorkingDir: SOURCE_FOLDER,
    loader: { '.svg': 'copy' },
    entryNames: '[name]-[hash]',
    outdir: '/',
    bundle: true,
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    write: false,
    metafile: true,
    ...options,
  })
}

/**
 * The scripts of a bundle. `entries`: the file of each module that is loaded by itself. `others`: the other files.
 * `shared`: the modules in these. Paths of modules are relative to `web/`.
 */
function splitOf({ outputs }: Metafile): { entries: Record<string, string>; others: string[]; shared: string[] } {
  const scripts = Object.entries(outputs).filter(([path]) => path.endsWith('.js'))
  const others = scripts.filter(([, { entryPoint }]) => entryPoint === undefined)
  return {
    entries: Object.fromEntries(
      scripts.flatMap(([path, { entryPoint }]) => (entryPoint === undefined ? [] : [[entryPoint, basename(path)]])),
    ),
    others: others.map(([path]) => basename(path)),
    shared: others.flatMap(([, { inputs }]) => Object.keys(inputs)),
  }
}

/** Makes each entry import the modules. Paths are relative to `web/`. */
function importing(modules: readonly string[], entries: readonly string[]): Plugin {
  const imports = modules.map((path) => `import ${JSON.stringify(join(SOURCE_FOLDER, path))}\n`).join('')
  return {
    name: 'shared modules',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.tsx$/ }, ({ path }) =>
        entries.includes(relative(SOURCE_FOLDER, path))
          ? { contents: imports + readFileSync(path, 'utf8'), loader: 'tsx' }
          : undefined,
      ),
  }
}

async function writeCompressed(path: string, content: Uint8Array): Promise<void> {
  const [zipped, brotli] = await Promise.all([compressGzip(content, { level: 9 }), compressBrotli(content)])
  writeFileSync(path, content)
  writeFileSync(`${path}.gz`, zipped)
  writeFileSync(`${path}.br`, brotli)
}

/** Moves a folder into the place of another. If another process has just done the same, its folder stays. */
function replaceFolder(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!existsSync(join(to, MANIFEST_FILE))) throw error
  }
}

/** A digest of everything that the bundle contains. */
function sourceDigest(): string {
  const hash = createHash('sha256')
  const paths = globSync(['web/**/*.{ts,tsx,css,svg,json}', 'src/values/**/*.ts', 'src/api/page/bundle.ts'], {
    cwd: ROOT,
  })
  for (const path of [...paths.toSorted(), 'package-lock.json']) {
    if (existsSync(join(ROOT, path))) hash.update(`${path}\n`).update(readFileSync(join(ROOT, path)))
  }
  return hash.digest('hex').slice(0, 16)
}
