/** `domaindex fetch czds`: downloads the zones of an account at ICANN's CZDS into the inbox. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { CommandFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { CzdsClient } from '../../fetch/czds/czds-client.ts'
import { fetchZones, type ZoneFetchResult } from '../../fetch/czds/fetch-zones.ts'
import { parseZoneName } from '../../registrations/zone/parse-zone.ts'
import { printResult } from '../program/print-result.ts'
import { startProgress } from '../program/progress.ts'
import { listenForStop } from '../program/stop-signal.ts'
import { userAgent } from './user-agent.ts'
import { checkZonePlaces, isZonePresent, zoneFetchFault } from './zone-places.ts'

const CZDS_HELP = `
czds is ICANN's Centralized Zone Data Service. DOMAINDEX_CZDS_USER and DOMAINDEX_CZDS_PASSWORD name
the account. The command downloads the named zones, or all zones approved for the account, into the
folder DOMAINDEX_INBOX. It skips zones that are already there, and continues interrupted downloads.

Exit codes: 0 every zone is there, 1 some zones could not be fetched.`

export function defineFetchCzds(command: Command): void {
  command
    .command('czds')
    .description("fetch zones from ICANN's CZDS into the inbox")
    .argument('[zone...]', 'the zones to fetch, such as com; without them, all approved zones')
    .option('--json', 'print one JSON object: zones (zone, outcome, and file, bytes or reason)')
    .addHelpText('after', CZDS_HELP)
    .action((zones: string[], { json }: { json?: true }) => fetchCzds(zones, json))
}

async function fetchCzds(zoneNames: string[], json: true | undefined): Promise<void> {
  const settings = loadSettings()
  await checkZonePlaces(settings)
  const zones = zoneNames.length === 0 ? null : zoneNames.map(parseZoneName)
  const stop = listenForStop()
  const czds = czdsClient(settings, stop.signal)
  const progress = startProgress('bytes')
  try {
    const fetched = await fetchZones({
      czds,
      folder: settings.inbox,
      zones,
      signal: stop.signal,
      has: (zone, day, file) => isZonePresent(settings, zone, day, file),
      onBytes: (zone, bytes, of) => progress.show(bytes, of === null ? null : bytes / of, { more: zone }),
      onFetched: (each) => {
        progress.end()
        printFetched(each, json)
      },
    })
    printResult(json, { zones: fetched }, [])
    if (fetched.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw zoneFetchFault(error)
    console.error('stopped; run it again to continue')
  } finally {
    progress.end()
    await czds.close()
    stop.end()
  }
}

/** Throws CommandFault if no account is set. */
function czdsClient(
  { czdsUser: user, czdsPassword: password, czdsAccounts, czdsZones }: Settings,
  signal: AbortSignal,
): CzdsClient {
  if (user === null || password === null)
    throw new CommandFault('DOMAINDEX_CZDS_USER and DOMAINDEX_CZDS_PASSWORD have to name an account at CZDS')
  const account = { user, password, accounts: czdsAccounts, zones: czdsZones, agent: userAgent() }
  return new CzdsClient(account, signal, (milliseconds, ended) => sleep(milliseconds, undefined, { signal: ended }))
}

/** Reports the outcome of a zone; with --json, only failures. */
function printFetched(fetched: ZoneFetchResult, json: true | undefined): void {
  if (json && fetched.outcome !== 'failed') return
  if (fetched.outcome === 'fetched') console.log(`${fetched.zone}: ${fetched.file}, ${fetched.bytes} bytes`)
  else if (fetched.outcome === 'there') console.log(`${fetched.zone}: ${fetched.file} is there already`)
  else console.error(`${fetched.zone}: ${fetched.reason}`)
}
