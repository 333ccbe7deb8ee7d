/** Compiles src/ and lab/ to dist/ for publishing, copies the files that the compiler does not, and bundles web/. */

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { buildPageBundle } from '../src/api/page/bundle.ts'

const FOLDERS = ['src', 'lab']

const isAsset = (path: string) => statSync(path).isDirectory() || !/\.tsx?$/.test(path)

/** Rewrites the URLs of workers, `new URL(…, import.meta.url)`. The compiler rewrites only imports. */
const withWorkerAddresses = (code: string) =>
  code.replace(/(new URL\(\s*['"]\.[^'"]*)\.ts(['"],\s*import\.meta\.url)/g, '$1.js$2')

rmSync('dist', { recursive: true, force: true })
const { status } = spawnSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

for (const folder of FOLDERS.filter((each) => existsSync(each))) {
  cpSync(folder, `dist/${folder}`, { recursive: true, filter: isAsset })
}
for (const path of globSync('dist/**/*.js')) {
  const code = readFileSync(path, 'utf8')
  if (code !== withWorkerAddresses(code)) writeFileSync(path, withWorkerAddresses(code))
}
cpSync('package.json', 'dist/package.json')
await buildPageBundle('dist/web')
