/** A process that runs the jobs and is killed before a given step: a write of the store or a file in the file store. */

import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const [folder = '', last = '', now = ''] = process.argv.slice(2)
let steps = 0
let isCounting = false

function counted<Given extends unknown[], Result>(work: (...given: Given) => Result) {
  return (...given: Given): Result => {
    if (isCounting && ++steps === Number(last)) process.kill(process.pid, 'SIGKILL')
    return work(...given)
  }
}

promises.rename = counted(promises.rename)
promises.rm = counted(promises.rm)
syncBuiltinESMExports()

const { openInstallation, runJobs } = await import('./installation.ts')
const { works, store } = await openInstallation(folder, () => Number(now))
await store.schedule.heartbeat('crawler', '{}')
const { acquireLock: take, startRun: begin, endRun: end, releaseLock: release } = store.jobs
const taken: typeof take = (duty, holder) => {
  isCounting = duty === 'daily' || duty === 'followup' // jobs for others have no files
  return counted(take)(duty, holder)
}
Object.assign(store.jobs, {
  acquireLock: taken,
  startRun: counted(begin),
  endRun: counted(end),
  releaseLock: counted(release),
})
const { add: want, complete: fulfil } = store.crawlRequests
Object.assign(store.crawlRequests, { add: counted(want), complete: counted(fulfil) })
await runJobs(works)
await store.schedule.heartbeat('crawler', null)
await runJobs(works)
await store.close()
