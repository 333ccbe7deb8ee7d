/**
 * `npm run release -- VERSION`: makes a release up to the upload. It gives the files their version, makes the stores that
 * later releases must open, commits, and builds the files of the release in `release/VERSION/` from a clean clone. If the
 * commit exists already, it only builds.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { isNewer, sectionOf, VERSIONED_FILES, withRelease, withVersion } from './prepare.ts'
import {
  billOfMaterials,
  checksumLines,
  imageDescription,
  provenance,
  type ReleaseSource,
  sha256,
} from './statements.ts'

const ROOT = join(import.meta.dirname, '../..')
const CHANGELOG = 'CHANGELOG.md'
const PACKAGES = ['.', 'client']
const MAX_OUTPUT_BYTES = 2 ** 30

const readText = (path: string, root = ROOT): string => readFileSync(join(root, path), 'utf8')
const versionOf = (): string => JSON.parse(readText('package.json')).version as string

/** Runs a command and returns its output. Its messages go to standard error. */
function run(program: string, args: string[], cwd = ROOT): string {
  const { status, stdout } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status === 0) return stdout.trim()
  process.stderr.write(stdout ?? '')
  throw new Error(`${program} ${args.join(' ')} failed`)
}

const git = (...args: string[]): string => run('git', args)

/** Runs a step that takes a while. */
function step<Result>(text: string, work: () => Result): Result {
  console.error(`release: ${text}`)
  return work()
}

function release(version: string): void {
  if (git('status', '--porcelain') !== '') throw new Error('the checkout has changes: commit or remove them')
  if (versionOf() !== version) prepareOrUndo(version)
  else if (git('show', '--no-patch', '--format=%s') !== subjectOf(version))
    throw new Error(`the last commit is not "${subjectOf(version)}": check that commit out to build it again`)
  const folder = join(ROOT, 'release', version)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const clone = mkdtempSync(join(tmpdir(), 'domaindex-release-'))
  try {
    build(version, clone, folder)
  } finally {
    rmSync(clone, { recursive: true, force: true })
  }
  console.log(`${folder}:`)
  for (const name of readdirSync(folder).sort()) console.log(`  ${name}`)
  console.log(`Next: .ci/run in a fresh clone, then tag and publish as docs/releasing.md says.`)
}

/** The subject of the commit of a release. */
const subjectOf = (version: string): string => `Release ${version}`

/** Commits the version. If a step fails, also the commit itself, nothing is changed. */
function prepareOrUndo(version: string): void {
  try {
    prepare(version, versionOf())
  } catch (error) {
    git('reset', '--quiet', '--hard')
    git('clean', '--quiet', '-fd', '--', 'test/fixtures/stores')
    throw error
  }
}

function prepare(version: string, former: string): void {
  if (!isNewer(version, former)) throw new Error(`${version} is not above ${former}`)
  const day = new Date().toISOString().slice(0, 10)
  writeFileSync(join(ROOT, CHANGELOG), withRelease(readText(CHANGELOG), version, day))
  for (const path of VERSIONED_FILES) writeFileSync(join(ROOT, path), withVersion(readText(path), former, version))
  step('package-lock.json', () => {
    run('npm', ['install', '--package-lock-only', '--ignore-scripts'])
    run(process.execPath, ['scripts/lock.ts'])
  })
  step('stores that later releases must open', () => run(process.execPath, ['scripts/store-fixture.ts', version]))
  step('their tests', () =>
    run('npm', ['test', '--', 'test/store/fixtures/releases.test.ts', 'test/deploy/compose.test.ts']),
  )
  git('add', '--all')
  git('commit', '--quiet', '--message', subjectOf(version))
}

/** Builds every file of the release from the commit. */
function build(version: string, clone: string, folder: string): void {
  const commit = git('rev-parse', 'HEAD')
  const at = new Date(Number(git('show', '--no-patch', '--format=%ct', commit)) * 1_000).toISOString()
  const source: ReleaseSource = { version, commit, at, lockDigest: sha256(readText('package-lock.json')) }
  const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(folder, name), content)
  step('a clean clone', () => {
    run('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone])
    run('npm', ['ci', '--no-audit', '--no-fund'], clone)
  })
  step('packages', () => {
    for (const path of PACKAGES) pack(join(clone, path), folder)
  })
  step('source and documents', () => {
    write(`domaindex-${version}-source.tar.gz`, archive(`domaindex-${version}`, []))
    const documents = ['docs', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', CHANGELOG, 'SECURITY.md', 'LICENSE']
    write(`domaindex-${version}-docs.tar.gz`, archive(`domaindex-${version}-docs`, documents))
    write('CHANGES.md', `${sectionOf(readText(CHANGELOG), version)}\n`)
  })
  step('statements', () => {
    for (const path of PACKAGES) {
      const { name } = JSON.parse(readText('package.json', join(clone, path))) as { name: string }
      write(`${fileNameOf(name)}-${version}.cdx.json`, billOfMaterials(packagesOf(join(clone, path)), source, name))
    }
    const { description } = JSON.parse(readText('package.json')) as { description: string }
    write('image.json', imageDescription(source, description, readText('deploy/Dockerfile')))
    write('provenance.json', provenance(filesIn(folder), source))
    write('SHA256SUMS', checksumLines(filesIn(folder)))
  })
}

const fileNameOf = (name: string): string => name.replace('@', '').replace('/', '-')

/** The bill of materials of a package. npm knows only that of a root, so the package is copied to be one. */
function packagesOf(path: string): string {
  const root = mkdtempSync(join(tmpdir(), 'domaindex-bill-'))
  const lock = join(path, 'package-lock.json')
  try {
    copyFileSync(join(path, 'package.json'), join(root, 'package.json'))
    if (existsSync(lock)) copyFileSync(lock, join(root, 'package-lock.json'))
    else run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], root)
    return run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'], root)
  } finally {
    rmSync(root, { recursive: true })
  }
}

/** Packs a package twice, and throws if the bytes differ: nobody could check such a package. */
function pack(path: string, folder: string): void {
  const digests = ['', ''].map(() => {
    const [packed] = JSON.parse(run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], path)) as [
      { filename: string },
    ]
    return sha256(readFileSync(join(folder, packed.filename)))
  })
  if (digests[0] !== digests[1]) throw new Error(`${path}: two builds of the package differ`)
}

/** Files of the commit as a compressed archive, with the same bytes each time. */
function archive(prefix: string, paths: string[]): Uint8Array {
  const tar = execFileSync('git', ['archive', '--format=tar', `--prefix=${prefix}/`, 'HEAD', ...paths], {
    cwd: ROOT,
    maxBuffer: MAX_OUTPUT_BYTES,
  })
  return gzipSync(tar, { level: 9 })
}

function filesIn(folder: string) {
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, sha256: sha256(readFileSync(join(folder, name))) }))
}

const [version] = process.argv.slice(2)
if (version === undefined) throw new Error('name the version, as in npm run release -- 0.2.0')
if (!existsSync(join(ROOT, '.git'))) throw new Error('a release is made in a git checkout')
release(version)
