/** The entry point: runs the command in argv. It loads only the code of that command. */

import { runProgram } from './cli/program/program.ts'

// A reader may close standard output early, as in `domaindex config | head -1`. That is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

await runProgram(process.argv.slice(2))
