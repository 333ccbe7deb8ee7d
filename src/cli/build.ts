/** `domaindex build`: builds finished files by hand, as the nights build them. */

import type { Command } from 'commander'
import { defineBuildDaily, defineBuildFollowup } from './build-files/daily-and-followup.ts'
import { defineBuildSnapshot } from './build-files/snapshot.ts'

export function defineBuild(command: Command): void {
  defineBuildDaily(command)
  defineBuildFollowup(command)
  defineBuildSnapshot(command)
}
