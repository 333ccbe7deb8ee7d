/** `domaindex build`: builds files manually, as the job scheduler builds them. */

import type { Command } from 'commander'
import { defineBuildDaily, defineBuildFollowup } from './build-files/daily-and-followup.ts'
import { defineBuildSnapshot } from './build-files/snapshot.ts'

export function defineBuild(command: Command): void {
  defineBuildDaily(command)
  defineBuildFollowup(command)
  defineBuildSnapshot(command)
}
