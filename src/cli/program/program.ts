/** The command-line program and its commands. Each command has its own file. */

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addCommandHelp } from './help.ts'

/** Adds arguments, options and an action to a command. */
type DefineCommand = (command: Command) => void

const COMMANDS: Record<string, [summary: string, load: () => Promise<DefineCommand>]> = {
  serve: ['serve the API over HTTP', () => import('../serve.ts').then((m) => m.defineServe)],
  crawl: ['probe domains and store the results', () => import('../crawl.ts').then((m) => m.defineCrawl)],
  import: ['import observations, zones and lists of names', () => import('../import.ts').then((m) => m.defineImport)],
  fetch: ['fetch zones and names from their publishers', () => import('../fetch.ts').then((m) => m.defineFetch)],
  build: [
    'build the daily, follow-up and snapshot files manually',
    () => import('../build.ts').then((m) => m.defineBuild),
  ],
  jobs: ['show the recent job runs and the next job', () => import('../jobs.ts').then((m) => m.defineJobs)],
  index: ['bring the /similar index up to date', () => import('../similar-index.ts').then((m) => m.defineIndex)],
  account: [
    'create, show and change accounts and their tokens',
    () => import('../account.ts').then((m) => m.defineAccount),
  ],
  operator: ['create and revoke tokens of operators', () => import('../operator.ts').then((m) => m.defineOperator)],
  check: ['verify the whole store and report inconsistencies', () => import('../check.ts').then((m) => m.defineCheck)],
  retarget: [
    'apply a newer public suffix list to stored redirects',
    () => import('../retarget.ts').then((m) => m.defineRetarget),
  ],
  forget: ['remove all data of a name permanently', () => import('../forget.ts').then((m) => m.defineForget)],
  backup: ['copy the store to a folder while it is in use', () => import('../backup.ts').then((m) => m.defineBackup)],
  restore: ['create a store from a backup', () => import('../restore.ts').then((m) => m.defineRestore)],
  export: ['write all that the store knows to a file', () => import('../export.ts').then((m) => m.defineExport)],
  copy: ['copy the whole store to another one of either engine', () => import('../copy.ts').then((m) => m.defineCopy)],
  migrate: ['migrate an older store to this version', () => import('../migrate.ts').then((m) => m.defineMigrate)],
  'rotate-secret': [
    'replace the secret of the installation',
    () => import('../rotate-secret.ts').then((m) => m.defineRotateSecret),
  ],
  claim: ['claim the places for files for this installation', () => import('../claim.ts').then((m) => m.defineClaim)],
  sizes: ['measure the size of each table of the store', () => import('../sizes.ts').then((m) => m.defineSizes)],
  config: ['print the current settings', () => import('../config.ts').then((m) => m.defineConfig)],
  lookup: ['print the key characteristics of domains', () => import('../lookup.ts').then((m) => m.defineLookup)],
  redirect: [
    'print the domains that redirect to a domain',
    () => import('../redirect.ts').then((m) => m.defineRedirect),
  ],
  reverseip: [
    'print the domains that share an address',
    () => import('../reverseip.ts').then((m) => m.defineReverseip),
  ],
  dnshistory: [
    'print how the DNS records of domains changed',
    () => import('../dnshistory.ts').then((m) => m.defineDnshistory),
  ],
  similar: ['print the websites with a similar start page', () => import('../similar.ts').then((m) => m.defineSimilar)],
  daily: ['download the domains that were registered on a day', () => import('../daily.ts').then((m) => m.defineDaily)],
  snapshot: ['download the list of all known domains', () => import('../snapshot.ts').then((m) => m.defineSnapshot)],
  quota: ['print the calls that are left today', () => import('../quota.ts').then((m) => m.defineQuota)],
  login: ['keep the token of a server', () => import('../login.ts').then((m) => m.defineLogin)],
  mcp: ['answer a language model over the Model Context Protocol', () => import('../mcp.ts').then((m) => m.defineMcp)],
  completion: [
    'print a script that completes commands in a shell',
    () => import('../completion.ts').then((m) => m.defineCompletion),
  ],
  demo: ['crawl a small local internet and serve the results', () => import('../demo.ts').then((m) => m.defineDemo)],
}

/** Creates the program. Loads only the command that `argv` names, or all for null and for `completion`. */
export async function createProgram(argv: readonly string[] | null): Promise<Command> {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  const program = new Command('domaindex')
    .description('Domain intelligence that you can run yourself.')
    .version(version, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'domaindex:')) })
  const requested = argv?.[0] === 'help' ? argv[1] : argv?.[0]
  const isWhole = argv === null || requested === 'completion'
  for (const [name, [summary, load]] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(summary)
    if (!isWhole && name !== requested) continue
    const defineCommand = await load()
    defineCommand(command)
    addCommandHelp(command)
  }
  return program
}
