/** `domaindex build`: builds finished files by hand, as the nights build them. */

import type { Command } from 'commander'
import { defineDaily, defineFollowup } from './build/days.ts'
import { defineSnapshot } from './build/snapshot.ts'

export function define(command: Command): void {
  defineDaily(command)
  defineFollowup(command)
  defineSnapshot(command)
}
