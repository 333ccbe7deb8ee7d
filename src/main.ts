/** The program: argv in, one command out. Only the command that is asked for is loaded. */

import { createProgram } from './cli/program/program.ts'

/** A reader that went away, as in `domaindex config | head -1`, is no fault. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

// Whatever a command makes is its owner's alone; a umask that is narrower still stays.
process.umask(0o077 | process.umask(0o077))
try {
  const argv = process.argv.slice(2)
  await (await createProgram(argv)).parseAsync(argv, { from: 'user' })
} catch (error) {
  const { reportError: report } = await import('./cli/program/report-error.ts')
  process.exitCode = report(error)
}
