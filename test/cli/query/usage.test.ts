/** The client commands reject wrong usage before they ask anything, and their help has the exit codes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXIT_CODES } from '../../../src/cli/program/client-fault.ts'
import { createProgram } from '../../../src/cli/program/program.ts'
import { reportError } from '../../../src/cli/program/report-error.ts'

const CLIENT_COMMANDS = 'lookup redirect reverseip dnshistory similar daily snapshot quota login'.split(' ')

for (const line of [
  'lookup example.com --fields nope',
  'lookup example.com --csv --json',
  'lookup example.com --file list',
  'lookup --file missing',
  'lookup example.com --server example.com',
  'lookup example.com --token-file token',
  'redirect example.com --limit 0',
  'redirect example.com --limit 1 --all',
  'redirect a.example b.example --next x',
  'reverseip example.com --limit many',
  'dnshistory example.com --type PTR',
  'similar example.com --limit 101',
  'daily',
  'daily 2026-02-30',
  'daily 2026-11-18 --sync folder',
  'daily 2026-11-18 --since 2026-11-01',
  'daily 2026-11-18 --followup 8',
  'daily --sync folder --output file',
  'daily --sync folder --since 2026-11-02 --until 2026-11-01',
  'quota --fields nope',
  'login',
  'login --server ftp://example.com',
])
  test(`domaindex ${line}: exit code 2 and one line`, async () => {
    const program = await createProgram(null)
    for (const command of program.commands) command.configureOutput({ writeErr: () => {} })
    const error = await program.parseAsync(line.split(' '), { from: 'user' }).then(
      () => assert.fail('it ran'),
      (thrown: Error) => thrown,
    )
    assert.equal(reportError(error), EXIT_CODES.usage[0])
    assert.doesNotMatch(error.message, /\n./)
  })

test('the exit codes are in the help of every client command', async () => {
  const program = await createProgram(null)
  for (const name of CLIENT_COMMANDS) {
    let help = ''
    const command = program.commands.find((each) => each.name() === name)!
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
    for (const [code, meaning] of Object.values(EXIT_CODES)) assert.ok(help.includes(`  ${code}  ${meaning}\n`), name)
  }
})
