/** `domaindex doctor`: examines an installation, and prints what to do. */

import { type Command, Option } from 'commander'
import { loadSettings, type Settings } from '../../config/settings.ts'
import type { DnsServer } from '../../probe/dns/server.ts'
import { examineInstallation } from '../../server/doctor/doctor.ts'
import type { Finding, FindingState } from '../../server/doctor/finding.ts'
import { saveReport } from '../../server/doctor/reports.ts'
import { openStore, storeExists } from '../../store/open.ts'
import type { Store } from '../../store/port/store.ts'
import { collectServer } from '../crawl/options.ts'
import { terminalText } from '../program/output.ts'

const DOCTOR_HELP = `
Examines the disks, the limit of open files, the listeners, the store, what runs on it, the mail
server, the resolvers, IPv4 and IPv6. It prints each line when it knows it, takes up to a minute, and
may run beside a server. It writes small files to each disk and place for files, and removes them.
The operator's page shows the result.

Exit codes: 0 no faults, 1 faults were found, 2 wrong usage.`

/** Milliseconds that a database server may be silent. */
const STORE_SILENCE_MS = 10_000

export function defineDoctor(command: Command): void {
  command
    .addOption(
      new Option('--resolver <address[:port]>', 'examine this resolver; may be repeated')
        .argParser(collectServer)
        .default([], 'the resolvers of the system'),
    )
    .option('--json', 'print one JSON object: findings (subject, state, message, advice)')
    .addHelpText('after', DOCTOR_HELP)
    .action(({ resolver, json }: { resolver: DnsServer[]; json?: true }) => runDoctor(resolver, json === true))
}

async function runDoctor(resolvers: readonly DnsServer[], json: boolean): Promise<void> {
  const settings = loadSettings()
  const opening = openIfExists(settings)
  const findings = await examineInstallation({
    settings,
    resolvers,
    hasNetwork: true,
    store: () => opening,
    ...(json ? {} : { onFindings: printFindings }),
  })
  if (json) console.log(JSON.stringify({ findings }))
  if (findings.some(({ state }) => state === 'fault')) process.exitCode = 1
  const store = await opening.catch(() => null) // it may open after its time is over
  if (store !== null) await keepReport(store, findings).finally(() => store.close())
}

async function openIfExists({ store, secret, pool }: Settings): Promise<Store | null> {
  if (!(await storeExists(store, STORE_SILENCE_MS))) return null
  return openStore(store, { access: 'write', ledger: 'own', secret, pool, maxSilence: STORE_SILENCE_MS })
}

/** The report is worth printing even if the store cannot keep it. */
async function keepReport(store: Store, findings: Finding[]): Promise<void> {
  await saveReport(store, findings).catch(({ message }: Error) =>
    console.error(`domaindex: the store cannot keep the report: ${message}`),
  )
}

const LABELS: Readonly<Record<FindingState, string>> = {
  ok: 'ok      ',
  off: 'off     ',
  warning: 'warning ',
  fault: 'fault   ',
}

function printFindings(findings: readonly Finding[]): void {
  for (const line of findings.flatMap(findingLines)) console.log(line)
}

function findingLines({ subject, state, message, advice }: Finding): string[] {
  const line = `${LABELS[state]}${subject}: ${message}`
  return [line, ...(advice === null ? [] : [`        ${advice}`])].map(terminalText)
}
