/** The entry point: runs the command in argv. It loads only the code of that command. */

import { createProgram } from './cli/program/program.ts'

// A reader may close standard output early, as in `domaindex config | head -1`. That is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

// Only the owner may read the files that a command creates. The command keeps a stricter umask.
process.umask(0o077 | process.umask(0o077))
try {
  const argv = process.argv.slice(2)
  await (await createProgram(argv)).parseAsync(argv, { from: 'user' })
} catch (error) {
  const { reportError } = await import('./cli/program/report-error.ts')
  process.exitCode = reportError(error)
}
