/** The completion scripts have every command and option of the program, and bash completes with them. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { suite, test } from 'node:test'
import { bashCompletion, fishCompletion, zshCompletion } from '../../../src/cli/completion/scripts.ts'
import { completionWords } from '../../../src/cli/completion/words.ts'
import { createProgram } from '../../../src/cli/program/program.ts'
import { folderOf } from '../run.ts'

const commands = completionWords(await createProgram(null))

const isMissing = (shell: string): string | false =>
  spawnSync(shell, ['-c', 'exit']).status === 0 ? false : `there is no ${shell}`

/** What bash offers after a line, whose last word may be empty. */
function completed(line: string): string[] {
  const words = line.split(' ').map((word) => `'${word}'`)
  const script = [
    bashCompletion(commands),
    `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _domaindex`,
    `printf '%s\\n' "\${COMPREPLY[@]}"`,
  ].join('\n')
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
  assert.equal(stderr, '')
  return stdout.split('\n').filter((word) => word !== '')
}

suite('completion in bash', { skip: isMissing('bash') }, () => {
  test('after any command, exactly its subcommands, options and values are completed', () => {
    for (const { path, subcommands, options, choices } of commands) {
      const expected = [...subcommands, ...options].map(({ name }) => name).concat(choices)
      assert.deepEqual(completed(`domaindex ${path} `.replace(/ +/g, ' ')).toSorted(), expected.toSorted(), path)
    }
  })

  test('a word is completed by what it begins with, and options may be in front of it', () => {
    assert.deepEqual(completed('domaindex dnsh'), ['dnshistory'])
    assert.deepEqual(completed('domaindex account token re'), ['revoke'])
    assert.deepEqual(completed('domaindex redirect example.com --al'), ['--all'])
    assert.deepEqual(completed('domaindex redirect --csv example.com --li'), ['--limit'])
  })

  test('the allowed values of an option are completed, and files if there are none', () => {
    assert.deepEqual(completed('domaindex account create --plan pre'), ['premium'])
    assert.deepEqual(completed('domaindex completion '), ['--help', 'bash', 'zsh', 'fish'])
    assert.deepEqual(completed('domaindex lookup --file '), [])
  })
})

for (const [shell, script] of [
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
] as const) {
  test(`the script of ${shell} has every command and option, and ${shell} can read it`, (t) => {
    const text = script(commands)
    for (const { path, options } of commands) {
      assert.ok(text.includes(path))
      const names = options.map(({ name }) => (shell === 'fish' ? `-l ${name.slice(2)} ` : name))
      for (const name of names) assert.ok(text.includes(name), `${path} ${name}`)
    }
    if (isMissing(shell)) return t.diagnostic(`there is no ${shell}`)
    const { status, stderr } = spawnSync(shell, ['-n'], { input: text, encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''])
  })
}

test('domaindex completion prints the script of the shell that it names', async (t) => {
  const { run } = folderOf(t)
  assert.deepEqual((await run(['completion', 'bash'])).stdout, bashCompletion(commands))
  assert.equal((await run(['completion', 'csh'])).code, 2)
})
