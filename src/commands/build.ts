/** `domaindex build`: builds finished files by hand, as the nights build them. */

import type { Command } from 'commander'
import { defineSnapshot } from './build/snapshot.ts'

export function define(command: Command): void {
  defineSnapshot(command)
}
