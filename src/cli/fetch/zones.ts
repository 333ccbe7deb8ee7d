/** `domaindex fetch czds` and `domaindex fetch axfr`: fetches zones into the inbox. */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { fetchTransfers, type ZoneTransferResult } from '../../fetch/axfr/fetch-transfers.ts'
import { KNOWN_ZONES } from '../../fetch/axfr/known-zones.ts'
import { parseTransferArgument, type TransferArgument, transferTargetOf } from '../../fetch/axfr/targets.ts'
import { parseTsigKey, type TsigKey } from '../../fetch/axfr/tsig.ts'
import { CzdsClient } from '../../fetch/czds/czds-client.ts'
import { fetchZones, type ZoneFetchResult } from '../../fetch/czds/fetch-zones.ts'
import { errorCause, InputError } from '../../import/stream/input-error.ts'
import { openRegistrations } from '../../registrations/registrations.ts'
import { parseZoneName } from '../../registrations/zone/parse-zone.ts'
import { requireOwnPlaces } from '../../server/places/check.ts'
import { inboxPlace, zonesPlace } from '../../server/places/place.ts'
import { storeExists } from '../../store/open.ts'
import type { Day } from '../../values/time.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { listenForStop, printResult, startProgress, terminalText } from '../program/output.ts'
import { userAgent } from './user-agent.ts'

const AXFR_HELP = `
A zone is ZONE, ZONE@SERVER or ZONE@SERVER:PORT, such as se, example.com@192.0.2.53 or
example.com@[2001:db8::53]:5353. Registries hand out these zones to everyone, and --known fetches all
of them, with their servers and public keys:
${Object.entries(KNOWN_ZONES)
  .map(([zone, { names, terms }]) => `  ${zone.padEnd(6)}${String(names).padStart(9)} names   ${terms}`)
  .join('\n')}
Without SERVER, the name servers of any other zone are asked. --tsig-file names a file that only its
owner can read, with one line ALGORITHM:NAME:BASE64 (hmac-sha256, hmac-sha384 or hmac-sha512).

The command writes a zone into the folder DOMAINDEX_INBOX when it is complete. It skips zones that are
already there, and zones whose serial has not moved.

Exit codes: 0 every zone is there or unchanged, 1 some zones could not be fetched.`

type AxfrOptions = { known?: true; tsigFile?: string; tls?: true; json?: true }

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

/** `domaindex fetch axfr`: transfers zones from their name servers into the inbox. */
export function defineFetchAxfr(command: Command): void {
  command
    .command('axfr')
    .description('transfer zones from their name servers into the inbox')
    .argument('[zone...]', 'the zones: ZONE, ZONE@SERVER or ZONE@SERVER:PORT')
    .option('--known', 'fetch every zone that its registry hands to everyone')
    .option('--tsig-file <file>', 'the TSIG key for the named zones')
    .option('--tls', 'connect over TLS (port 853), and verify the certificate of the server')
    .option('--json', 'print one JSON object: zones (zone, outcome, and file, serial, names or reason)')
    .addHelpText('after', AXFR_HELP)
    .action(fetchAxfr)
}

async function fetchAxfr(zones: string[], { known, tsigFile, tls, json }: AxfrOptions): Promise<void> {
  if (zones.length === 0 && !known) throw new UsageFault('name the zones, or use --known')
  if (known && tsigFile !== undefined) throw new UsageFault('--tsig-file is only for named zones, not for --known')
  const named = zones.map(parseArgument)
  const key = tsigFile === undefined ? null : readTsigFile(tsigFile)
  const settings = loadSettings()
  await checkZonePlaces(settings)
  const all = known ? [...named, ...Object.keys(KNOWN_ZONES).map((zone) => ({ zone, server: null }))] : named
  const stop = listenForStop()
  const progress = startProgress('names')
  try {
    const targets = await Promise.all(all.map((argument) => transferTargetOf(argument, key, tls ?? false)))
    const results = await fetchTransfers({
      targets,
      folder: settings.inbox,
      signal: stop.signal,
      now: () => Math.floor(Date.now() / 1000),
      wait: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
      has: (zone, day, file) => isZonePresent(settings, zone, day, file),
      onNames: (zone, names) => progress.show(names, null, { more: zone }),
      onEnded(result) {
        progress.end()
        printTransfer(result, json)
      },
    })
    printResult(json, { zones: results }, [])
    if (results.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw zoneFetchFault(error)
    console.error('stopped; no incomplete zone is left')
  } finally {
    progress.end()
    stop.end()
  }
}

/** Throws UsageFault if the text names no zone. */
function parseArgument(text: string): TransferArgument {
  try {
    return parseTransferArgument(text)
  } catch (error) {
    throw error instanceof InputError ? new UsageFault(error.message) : error
  }
}

/** The file may be readable by its owner only, because whoever has the key gets the zone. Throws CommandFault. */
function readTsigFile(path: string): TsigKey {
  try {
    if ((statSync(path).mode & 0o077) !== 0)
      throw new InputError('others than its owner can read it: change that with chmod 600')
    return parseTsigKey(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CommandFault(`${path} cannot be used: ${errorCause(error)}`)
  }
}

/** Reports the outcome of a zone; with --json, only failures. */
function printTransfer(result: ZoneTransferResult, json: true | undefined): void {
  const { zone } = result
  if (result.outcome === 'failed') console.error(terminalText(`${zone}: ${result.reason}`))
  else if (json) return
  else if (result.outcome === 'there') console.log(`${zone}: ${result.file} is there already`)
  else if (result.outcome === 'unchanged') console.log(`${zone}: serial ${result.serial}, unchanged`)
  else console.log(`${zone}: ${result.file}, names ${result.names}, serial ${result.serial}`)
}

/** Throws CommandFault if the inbox or the zones are not those of the installation. No store: no installation yet. */
async function checkZonePlaces(settings: Settings): Promise<void> {
  if (!(await storeExists(settings.store))) return
  const places = [inboxPlace(settings), zonesPlace(settings)]
  await withExistingStore('read', (store) => requireOwnPlaces(places, store))
}

/** Returns a CommandFault for an error that the user can correct, else the error itself. */
function zoneFetchFault(error: unknown): unknown {
  const { path } = error as NodeJS.ErrnoException
  if (error instanceof InputError) return new CommandFault(error.message)
  return path === undefined ? error : new CommandFault(`${path} cannot be used: ${errorCause(error)}`)
}

/** Whether a zone lies in the inbox, taken or not, or was imported otherwise. */
async function isZonePresent({ inbox, zones }: Settings, zone: string, day: Day, file: string): Promise<boolean> {
  if (['', 'done', 'failed'].some((folder) => existsSync(join(inbox, folder, file)))) return true
  const sources = await openRegistrations(zones).sources(day)
  return sources.some(({ source }) => source === `zone:${zone}`)
}
