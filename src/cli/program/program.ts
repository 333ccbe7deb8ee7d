/** The command-line program, and its commands as rows of a table. */

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addCommandHelp } from './help.ts'

/** Adds arguments, options and an action to a command. */
type DefineCommand = (command: Command) => void

/** The files of the commands, by subject. Each is loaded when one of its commands is called. */
const account = {
  changes: () => import('../account/changes.ts'),
  tokens: () => import('../account/tokens.ts'),
}
const jobs = { build: () => import('../jobs/build.ts'), jobs: () => import('../jobs/jobs.ts') }
const query = {
  commands: () => import('../query/commands.ts'),
  downloads: () => import('../query/downloads.ts'),
  mcp: () => import('../query/mcp.ts'),
  watch: () => import('../query/watch.ts'),
  webhook: () => import('../query/webhook.ts'),
}
const store = {
  content: () => import('../store/content.ts'),
  copies: () => import('../store/copies.ts'),
  export: () => import('../store/export.ts'),
  forget: () => import('../store/forget.ts'),
  prune: () => import('../store/prune.ts'),
  sizes: () => import('../store/sizes.ts'),
}

type QueryName = Parameters<Awaited<ReturnType<typeof query.commands>>['queryCommand']>[0]
const queried = (name: QueryName) => async () => (await query.commands()).queryCommand(name)

/** A row for each command: its name, its summary, and what defines it. */
const COMMANDS: readonly [name: string, summary: string, load: () => Promise<DefineCommand>][] = [
  ['serve', 'serve the API over HTTP', async () => (await import('../server/serve.ts')).defineServe],
  ['crawl', 'probe domains and store the results', async () => (await import('../crawl/crawl.ts')).defineCrawl],
  [
    'import',
    'import observations, zones and lists of names',
    async () => (await import('../import/import.ts')).defineImport,
  ],
  ['fetch', 'fetch zones and names from their publishers', async () => (await import('../fetch/fetch.ts')).defineFetch],
  ['build', 'build the daily, follow-up and snapshot files manually', async () => (await jobs.build()).defineBuild],
  ['jobs', 'show the recent job runs and the next job', async () => (await jobs.jobs()).defineJobs],
  ['index', 'bring the /similar index and the inverse index up to date', async () => (await jobs.jobs()).defineIndex],
  ['account', 'create, show and change accounts and their tokens', async () => (await account.changes()).defineAccount],
  ['operator', 'create and revoke tokens of operators', async () => (await account.tokens()).defineOperator],
  [
    'doctor',
    'examine the installation and say what to do',
    async () => (await import('../server/doctor.ts')).defineDoctor,
  ],
  ['check', 'verify the whole store and report inconsistencies', async () => (await store.content()).defineCheck],
  [
    'retarget',
    'apply a newer public suffix list to stored redirects',
    async () => (await store.content()).defineRetarget,
  ],
  ['prune', 'remove what is older than the settings keep it', async () => (await store.prune()).definePrune],
  ['forget', 'remove all data of a name permanently', async () => (await store.forget()).defineForget],
  ['backup', 'copy the store to a folder while it is in use', async () => (await store.copies()).defineBackup],
  ['restore', 'create a store from a backup', async () => (await store.copies()).defineRestore],
  ['export', 'write all that the store knows to a file', async () => (await store.export()).defineExport],
  ['copy', 'copy the whole store to another one of either engine', async () => (await store.copies()).defineCopy],
  ['migrate', 'migrate an older store to this version', async () => (await store.copies()).defineMigrate],
  ['rotate-secret', 'replace the secret of the installation', async () => (await store.content()).defineRotateSecret],
  ['claim', 'claim the places for files for this installation', async () => (await jobs.jobs()).defineClaim],
  ['sizes', 'measure what takes space, and how it grows', async () => (await store.sizes()).defineSizes],
  ['config', 'print the current settings', async () => (await import('../config.ts')).defineConfig],
  ['lookup', 'print the key characteristics of domains', queried('lookup')],
  ['redirect', 'print the domains that redirect to a domain', queried('redirect')],
  ['reverseip', 'print the domains that share an address', queried('reverseip')],
  ['dnshistory', 'print how the DNS records of domains changed', queried('dnshistory')],
  ['similar', 'print the websites with a similar start page', queried('similar')],
  ['domain', 'print the DNS records of domains, also as of a date', queried('domain')],
  ['webhistory', 'print how the websites of domains changed', queried('webhistory')],
  ['certificatehistory', 'print the certificates that domains presented', queried('certificatehistory')],
  ['namedcertificates', 'print the certificates that name a domain', queried('namedcertificates')],
  ['certificate', 'print which domains presented a certificate, and when', queried('certificate')],
  ['redirecthistory', 'print what redirected to a domain, and when', queried('redirecthistory')],
  ['ip', 'print who was on an address or a network, and when', queried('ip')],
  ['search', 'find names by a part of them', queried('search')],
  ['registered', 'find names that were registered on a day', queried('registered')],
  ['dropped', 'find names that were dropped on a day', queried('dropped')],
  ['lookalikes', 'find names that imitate a brand', queried('lookalikes')],
  ['watch', 'watch names and addresses, and print what changed', async () => (await query.watch()).defineWatch],
  ['webhook', 'have events sent to URLs', async () => (await query.webhook()).defineWebhook],
  ['daily', 'download the domains that were registered on a day', async () => (await query.downloads()).defineDaily],
  ['snapshot', 'download the list of all known domains', async () => (await query.downloads()).defineSnapshot],
  ['quota', 'print the calls that are left today', async () => (await query.commands()).defineQuota],
  ['login', 'keep the token of a server', async () => (await query.commands()).defineLogin],
  ['mcp', 'answer a language model over the Model Context Protocol', async () => (await query.mcp()).defineMcp],
  [
    'completion',
    'print a script that completes commands in a shell',
    async () => (await import('./completion.ts')).defineCompletion,
  ],
  [
    'demo',
    'crawl a small local internet and serve the results',
    async () => (await import('../demo/demo.ts')).defineDemo,
  ],
]

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
  for (const [name, summary, load] of COMMANDS) {
    const command = program.command(name).description(summary)
    if (!isWhole && name !== requested) continue
    const defineCommand = await load()
    defineCommand(command)
    addCommandHelp(command)
  }
  return program
}

/** Runs the command in `argv`, and sets the exit code of this process if it fails. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  // Only the owner may read the files that a command creates. The command keeps a stricter umask.
  process.umask(0o077 | process.umask(0o077))
  try {
    await (await createProgram(argv)).parseAsync(argv, { from: 'user' })
  } catch (error) {
    const { reportError } = await import('./report-error.ts')
    process.exitCode = reportError(error)
  }
}
