/**
 * Tests what every command has: examples and settings in its help, --json if it prints a result, and exit code 2 for
 * wrong usage.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { COMMAND_HELP, commandPath } from '../../src/cli/program/help.ts'
import { createProgram } from '../../src/cli/program/program.ts'
import { reportError } from '../../src/cli/program/report-error.ts'
import { UsageFault } from '../../src/config/command-fault.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { folderOf } from './run.ts'

/** Commands that print no result: they run until they are stopped, or print a script. */
const WITHOUT_RESULT = ['mcp', 'serve', 'demo', 'completion']

/** Returns the commands that can be run, by their paths. */
function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

const leaves = leavesOf(await createProgram(null))

/** Returns the help as it is printed. */
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (more) => (text += more) }).outputHelp()
  return text
}

test('every command that can be run has examples and settings, and no other command has', () => {
  assert.deepEqual(leaves.map(commandPath).toSorted(), Object.keys(COMMAND_HELP).toSorted())
})

for (const command of leaves) {
  const path = commandPath(command)
  const { examples = [], settings = [] } = COMMAND_HELP[path] ?? {}

  test(`domaindex ${path} --help has its own examples and the settings that it reads`, () => {
    const help = helpOf(command)
    assert.ok(examples.length > 0)
    for (const example of examples) {
      assert.ok(`${example} `.startsWith(`${path} `) && help.includes(`\n  domaindex ${example}\n`), example)
      const flags = example.split(' ').filter((word) => word.startsWith('--'))
      for (const flag of flags)
        assert.ok(
          command.options.some(({ long }) => long === flag),
          example,
        )
    }
    assert.equal(new Set(settings).size, settings.length)
    for (const key of settings) assert.ok(settings.length > 30 || help.includes(SETTINGS[key].name), key)
  })

  test(`domaindex ${path} prints JSON if it prints a result`, () => {
    const option = command.options.find(({ long }) => long === '--json')
    assert.equal(option !== undefined, !WITHOUT_RESULT.includes(path))
    if (option !== undefined) assert.match(option.description, /^print one JSON object/)
  })

  test(`domaindex ${path} exits with code 2 for wrong usage`, async () => {
    const program = (await createProgram(null)).configureOutput({ writeErr: () => {}, writeOut: () => {} })
    for (const each of leavesOf(program)) each.configureOutput({ writeErr: () => {} })
    const code = (error: unknown) => reportError(error)
    await program.parseAsync([...path.split(' '), '--no-such-option'], { from: 'user' }).then(
      () => assert.fail('it ran'),
      (error) => assert.equal(code(error), 2),
    )
  })
}

test('help and version exit with 0, and wrong usage that a command itself detects exits with 2 and one line', async (t) => {
  const { run } = folderOf(t)
  for (const args of [['--help'], ['--version'], ['help', 'import'], ['account', 'token', '--help']])
    assert.equal((await run(args)).code, 0, args.join(' '))
  for (const args of [
    [],
    ['nope'],
    ['account'],
    ['account', 'show'],
    ['account', 'show', 'x'],
    ['account', 'plan', 'ann@example.com', 'gold'],
    ['account', 'delete', 'ann@example.com'],
    ['import'],
    ['import', 'a', '--inbox'],
    ['crawl'],
    ['crawl', '--loop', '--json'],
    ['forget'],
    ['forget', 'no name'],
    ['build', 'daily', '--date', 'x'],
    ['fetch', 'elsewhere'],
  ]) {
    const { code, stdout, stderr } = await run(args)
    assert.deepEqual([code, stdout], [2, ''], args.join(' '))
    assert.doesNotMatch(stderr, /^ +at /m)
  }
  assert.equal(reportError(new UsageFault('x')), 2)
})
