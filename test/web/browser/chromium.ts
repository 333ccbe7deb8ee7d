/** Starts the Chromium of @sparticuz/chromium. Its files are unpacked once, into node_modules/.cache. */

import { spawnSync } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createBrotliDecompress } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'

const PACKED = fileURLToPath(new URL('../../bin/', import.meta.resolve('@sparticuz/chromium')))
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/domaindex-chromium')
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--font-render-hinting=none']
/** Milliseconds that a busy machine may need to start it. */
const START_TIMEOUT_MS = 120_000

/** Why there is no browser for this machine; null if there is one. */
export const NO_BROWSER =
  process.platform === 'linux' && process.arch === 'x64' ? null : 'the browser of the tests runs on Linux on x64 only'

/** Starts the browser. If the libraries or fonts of the machine do not suffice, it gets those of the package. */
export async function startChromium(): Promise<Browser> {
  await unpack()
  const launch = (env: Record<string, string> = {}): Promise<Browser> =>
    chromium.launch({
      executablePath: join(CACHE, 'chromium'),
      args: ARGUMENTS,
      timeout: START_TIMEOUT_MS,
      env: { ...process.env, ...env } as Record<string, string>,
    })
  const own = { LD_LIBRARY_PATH: join(CACHE, 'lib'), FONTCONFIG_PATH: CACHE }
  return existsSync('/etc/fonts/fonts.conf') ? launch().catch(() => launch(own)) : launch(own)
}

/** Unpacks into a folder of its own and moves it, so that several processes may do it at once. */
async function unpack(): Promise<void> {
  if (existsSync(join(CACHE, 'chromium'))) return
  const folder = `${CACHE}.${process.pid}`
  mkdirSync(folder, { recursive: true })
  await Promise.all(['chromium', 'fonts.tar', 'al2023.tar'].map((name) => decompress(name, folder)))
  for (const name of ['fonts.tar', 'al2023.tar']) spawnSync('tar', ['-xf', join(folder, name), '-C', folder])
  try {
    renameSync(folder, CACHE)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    if (!existsSync(join(CACHE, 'chromium'))) throw error
  }
}

function decompress(name: string, folder: string): Promise<void> {
  const target = createWriteStream(join(folder, name), { mode: 0o755 })
  return pipeline(createReadStream(join(PACKED, `${name}.br`)), createBrotliDecompress(), target)
}
