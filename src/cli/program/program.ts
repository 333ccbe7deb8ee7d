/** The program: its commands by name, each in a file of its own. */

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addCommandHelp } from './help.ts'

/** A command's file: adds arguments, options and the deed to a command that has its name and summary. */
type CommandModule = { define: (command: Command) => void }

const COMMANDS: Record<string, [summary: string, load: () => Promise<CommandModule>]> = {
  serve: ['answer requests over HTTP', () => import('../serve.ts')],
  crawl: ['visit domains, and keep what is seen', () => import('../crawl.ts')],
  import: ['take in observations, zones and lists of names', () => import('../import.ts')],
  fetch: ['bring zones into the inbox', () => import('../fetch.ts')],
  build: ['build finished files by hand', () => import('../build.ts')],
  jobs: ['say what the nights have built, and what is next', () => import('../jobs.ts')],
  index: ['bring the index of /similar up to date', () => import('../similar-index.ts')],
  account: ['make, show and change accounts and their tokens', () => import('../account.ts')],
  check: ['recount the whole store and say what does not fit together', () => import('../check.ts')],
  retarget: ['apply a newer public suffix list to stored redirects', () => import('../retarget.ts')],
  forget: ['remove all that is known of a name, for good', () => import('../forget.ts')],
  backup: ['copy the store to a folder while it is in use', () => import('../backup.ts')],
  restore: ['make a store out of a backup', () => import('../restore.ts')],
  copy: ['copy the whole store to another one, of any engine', () => import('../copy.ts')],
  migrate: ['bring an older store up to this version', () => import('../migrate.ts')],
  'rotate-secret': ['give the installation a new secret', () => import('../rotate-secret.ts')],
  config: ['print the settings that are in force', () => import('../config.ts')],
  demo: ['crawl a small internet of its own, and serve what it saw', () => import('../demo.ts')],
}

/** The program with all its commands, of which only the one that `argv` asks for is loaded; null loads all. */
export async function createProgram(argv: readonly string[] | null): Promise<Command> {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  const program = new Command('domaindex')
    .description('Domain intelligence that anyone can run themselves.')
    .version(version, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'say what a command does')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'domaindex:')) })
  const requested = argv?.[0] === 'help' ? argv[1] : argv?.[0]
  for (const [name, [summary, load]] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(summary)
    if (argv !== null && name !== requested) continue
    const { define } = await load()
    define(command)
    addCommandHelp(command)
  }
  return program
}
