/** The program: argv in, one command out. Only the command that is asked for is loaded. */

import { readFileSync } from 'node:fs'
import { Command } from 'commander'

/** A command's file: adds arguments, options and the deed to a command that has its name and summary. */
type CommandFile = { define: (command: Command) => void }

const COMMANDS: Record<string, [summary: string, load: () => Promise<CommandFile>]> = {
  serve: ['answer requests over HTTP', () => import('./commands/serve.ts')],
  crawl: ['visit domains, and keep what is seen', () => import('./commands/crawl.ts')],
  import: ['take in observations, zones and lists of names', () => import('./commands/import.ts')],
  fetch: ['bring zones into the inbox', () => import('./commands/fetch.ts')],
  build: ['build finished files by hand', () => import('./commands/build.ts')],
  jobs: ['say what the nights have built, and what is next', () => import('./commands/jobs.ts')],
  index: ['bring the index of /similar up to date', () => import('./commands/indexing.ts')],
  account: ['make, show and change accounts and their tokens', () => import('./commands/account.ts')],
  check: ['recount the whole store and say what does not fit together', () => import('./commands/check.ts')],
  retarget: ['apply a newer public suffix list to stored redirects', () => import('./commands/retarget.ts')],
  forget: ['remove all that is known of a name, for good', () => import('./commands/forget.ts')],
  backup: ['copy the store to a folder while it is in use', () => import('./commands/backup.ts')],
  restore: ['make a store out of a backup', () => import('./commands/restore.ts')],
  copy: ['copy the whole store to another one, of any engine', () => import('./commands/copy.ts')],
  migrate: ['bring an older store up to this version', () => import('./commands/migrate.ts')],
  'rotate-secret': ['give the installation a new secret', () => import('./commands/rotate-secret.ts')],
  config: ['print the settings that are in force', () => import('./commands/config.ts')],
  demo: ['crawl a small internet of its own, and serve what it saw', () => import('./commands/demo.ts')],
}

async function run(argv: readonly string[]): Promise<void> {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const program = new Command('domaindex')
    .description('Domain intelligence that anyone can run themselves.')
    .version(version, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'say what a command does')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'domaindex:')) })
  const asked = argv[0] === 'help' ? argv[1] : argv[0]
  for (const [name, [summary, load]] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(summary)
    if (name === asked) (await load()).define(command)
  }
  await program.parseAsync(argv, { from: 'user' })
}

/** A reader that went away, as in `domaindex config | head -1`, is no fault. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

// Whatever a command makes is its owner's alone; a umask that is narrower still stays.
process.umask(0o077 | process.umask(0o077))
try {
  await run(process.argv.slice(2))
} catch (error) {
  const { report } = await import('./commands/report.ts')
  process.exitCode = report(error)
}
