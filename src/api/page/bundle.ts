/** Builds the files of the web page from `web/`: bundled, minified, hashed and compressed once. */

import { createHash, randomUUID } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SOURCE_FOLDER = join(ROOT, 'web')
const CACHE_FOLDER = join(ROOT, 'node_modules/.cache/domaindex-web')
/** The file that names all others. A folder that has it is complete. */
export const MANIFEST_FILE = 'manifest.json'

/** The names of the files of a bundle by their role. `files`: those that browsers load; `boot` is in the document. */
export type PageManifest = { main: string; style: string; boot: string; icon: string; files: string[] }

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
    const [boot] = await bundle({ boot: 'boot.ts' }, 'iife')
    writeFileSync(join(temporary, boot!.file), boot!.content)
    const files = await bundle({ main: 'main.tsx', style: 'style/style.css', icon: 'style/icon.svg' }, 'esm')
    const named = (name: string): string => files.find(({ file }) => file.startsWith(`${name}-`))!.file
    for (const { file, content } of files) await writeCompressed(join(temporary, file), content)
    const roles = { main: named('main'), style: named('style'), boot: boot!.file, icon: named('icon') }
    const manifest: PageManifest = { ...roles, files: files.map(({ file }) => file) }
    writeFileSync(join(temporary, MANIFEST_FILE), JSON.stringify(manifest))
    replaceFolder(temporary, folder)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

type BundledFile = { file: string; content: Uint8Array }

/** `entryPoints`: by role. */
async function bundle(entryPoints: Record<string, string>, format: 'esm' | 'iife'): Promise<BundledFile[]> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    absWorkingDir: SOURCE_FOLDER,
    entryPoints,
    loader: { '.svg': 'copy' },
    entryNames: '[name]-[hash]',
    outdir: '/',
    bundle: true,
    format,
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    write: false,
  })
  return outputFiles.map(({ path, contents }) => ({ file: basename(path), content: contents }))
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
