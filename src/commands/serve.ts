/** `domaindex serve`: answers requests over HTTP until it is asked to stop. */

import type { Command } from 'commander'
import { loadSettings } from '../config.ts'
import { startServer } from './serve/primary.ts'

const HELP = `
Logs go to standard error, a JSON object a line. Metrics are given out by the listener that DOMAINDEX_ADMIN names.
SIGTERM and SIGINT end it in order: nothing new is accepted, what is under way is answered. A second one ends it at once.`

export function define(command: Command): void {
  command.addHelpText('after', HELP).action(async () => {
    const { address, ended } = await startServer(loadSettings(), { demo: false })
    console.log(`domaindex listens on ${address}`)
    await ended
  })
}
