/** The faults that a soak makes. */

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from './faults.ts'
import type { Installation } from './installation.ts'
import { processTree, roleOf } from './samples.ts'
import type { Surroundings } from './surroundings.ts'

const FAULT_MS = 5_000

/** Those that are possible here: the disk is full only if it could be mounted. */
export function faultsOf(installation: Installation, { resolver }: Surroundings, random: () => number): Fault[] {
  const faults: Fault[] = [
    { name: 'kill -9 of a process', weight: 5, break: async () => killSomeProcess(installation, random) },
    {
      name: 'kill -9 of the server',
      weight: 1,
      async break() {
        installation.server.child.kill('SIGKILL')
        await sleep(2_000)
        return 'its primary'
      },
    },
    {
      name: 'resolver away',
      weight: 1,
      async break() {
        resolver.override(() => 'silent')
        await sleep(FAULT_MS)
        resolver.override(null)
        return '5 s'
      },
    },
  ]
  const { disk, postgres } = installation
  if (disk !== null) faults.push({ name: 'disk full', weight: 1, break: () => fillDisk(disk) })
  if (postgres !== null)
    faults.push({
      name: 'PostgreSQL restarted',
      weight: 1,
      async break() {
        await installation.restartPostgres()
        return 'fast shutdown'
      },
    })
  return faults
}

/** Kills one of the processes below the primary, at random. */
function killSomeProcess({ server }: Installation, random: () => number): string | null {
  const primary = server.child.pid!
  const others = processTree(primary).filter((each) => each !== primary && roleOf(each) !== null)
  const victim = others[Math.floor(random() * others.length)]
  if (victim === undefined) return null
  const role = roleOf(victim)
  process.kill(victim, 'SIGKILL')
  return role
}

/** Fills a disk as another program would, for a while. */
async function fillDisk(disk: string): Promise<string> {
  const filler = join(disk, 'of-others')
  execFileSync('sh', ['-c', `cat /dev/zero > ${filler} 2>/dev/null || true`], { stdio: 'ignore' })
  await sleep(FAULT_MS)
  rmSync(filler, { force: true })
  return '5 s'
}
