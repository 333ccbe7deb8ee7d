/** `domaindex fetch axfr`: transfers zones from their name servers into the inbox. */

import { readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import { loadSettings } from '../../config/settings.ts'
import { fetchTransfers, type ZoneTransferResult } from '../../fetch/axfr/fetch-transfers.ts'
import { KNOWN_ZONES } from '../../fetch/axfr/known-zones.ts'
import { parseTransferArgument, type TransferArgument, transferTargetOf } from '../../fetch/axfr/targets.ts'
import { parseTsigKey, type TsigKey } from '../../fetch/axfr/tsig.ts'
import { errorCause, InputError } from '../../import/stream/input-error.ts'
import { printResult } from '../program/print-result.ts'
import { startProgress } from '../program/progress.ts'
import { listenForStop } from '../program/stop-signal.ts'
import { terminalText } from '../program/terminal-text.ts'
import { checkZonePlaces, isZonePresent, zoneFetchFault } from './zone-places.ts'

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
