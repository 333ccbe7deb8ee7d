/** The completion scripts have every command and option of the program, and bash completes with them. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { bashCompletion, completionWords, fishCompletion, zshCompletion } from '../../../src/cli/program/completion.ts'
import { createProgram } from '../../../src/cli/program/program.ts'
import { folderOf } from '../run.ts'

const commands = completionWords(await createProgram(null))

const isMissing = (shell: string): string | false =>
  spawnSync(shell, ['-c', 'exit']).status === 0 ? false : `there is no ${shell}`

/** The words that a shell offers after a line, whose last word may be empty. */
type Complete = (line: string) => string[]

function outputOf(shell: string, args: readonly string[], script: string): string[] {
  const { stdout, stderr } = spawnSync(shell, [...args, '-c', script], { encoding: 'utf8' })
  assert.equal(stderr, '')
  return stdout.split('\n').filter((word) => word !== '')
}

const inBash: Complete = (line) => {
  const words = line.split(' ').flatMap((word) => word.split(/([=@])/)) // as COMP_WORDBREAKS splits them
  const script = [
    bashCompletion(commands),
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`,
    `registered=$(complete -p ${words[0]}); registered=\${registered#*-F }; "\${registered%% *}"`,
    `printf '%s\\n' "\${COMPREPLY[@]}"`,
  ].join('\n')
  return outputOf('bash', ['--norc'], script)
}

/** zsh runs the functions of bash. Outside of its line editor, nothing calls them or compares the beginning. */
const inZsh: Complete = (line) => {
  const words = line.split(' ')
  const script = [
    zshCompletion(commands),
    `typeset -a COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`,
    `registered=\${_comps[${words[0]}]#*-F }; setopt ksharrays shwordsplit; $registered`,
    `printf '%s\\n' "\${COMPREPLY[@]}"`,
  ].join('\n')
  return outputOf('zsh', ['-f'], script).filter((word) => word.startsWith(words.at(-1)!))
}

const inFish: Complete = (line) =>
  outputOf('fish', ['--no-config'], `${fishCompletion(commands)}\ncomplete -C '${line}'`).map(
    (word) => word.split('\t')[0]!,
  )

for (const [shell, completed] of [
  ['bash', inBash],
  ['zsh', inZsh],
  ['fish', inFish],
] as const)
  suite(`completion in ${shell}`, { skip: isMissing(shell) }, () => {
    test('a word is completed by what it begins with, and options may be in front of it', () => {
      assert.deepEqual(completed('domaindex dnsh'), ['dnshistory'])
      assert.deepEqual(completed('domaindex account token re'), ['revoke'])
      assert.deepEqual(completed('domaindex redirect example.com --al'), ['--all'])
      assert.deepEqual(completed('domaindex redirect --csv example.com --li'), ['--limit'])
    })

    test('npx domaindex is completed as domaindex is', () => {
      assert.ok(completed('npx doma').includes('domaindex'))
      assert.deepEqual(completed('npx domaindex dnsh'), ['dnshistory'])
      assert.deepEqual(completed('npx domaindex account create --plan pre'), ['premium'])
      assert.deepEqual(completed('npx domaindex dnshistory example.com --type M'), ['MX'])
    })

    test('the allowed values of options and arguments are completed', () => {
      assert.deepEqual(completed('domaindex dnshistory --type A').toSorted(), ['A', 'AAAA'])
      assert.deepEqual(completed('domaindex build followup --after ').toSorted(), ['30', '7'])
      assert.deepEqual(completed('domaindex account create --addon e').toSorted(), ['enriched', 'export'])
      assert.deepEqual(completed('domaindex account create --plan pre'), ['premium'])
      assert.deepEqual(completed('domaindex account plan ann@example.com pre'), ['premium'])
      assert.deepEqual(completed('domaindex export par').toSorted(), ['parquet', 'parquet-history'])
    })
  })

suite('the words of bash', { skip: isMissing('bash') }, () => {
  test('after any command, exactly its subcommands, options and values are completed', () => {
    for (const { path, subcommands, options, choices } of commands) {
      const expected = [...subcommands, ...options].map(({ name }) => name).concat(choices[0] ?? [])
      assert.deepEqual(inBash(`domaindex ${path} `.replace(/ +/g, ' ')).toSorted(), expected.toSorted(), path)
    }
  })

  test('files are completed as the value of an option that may have any', () => {
    assert.deepEqual(inBash('domaindex completion '), ['--help', 'bash', 'zsh', 'fish'])
    assert.deepEqual(inBash('domaindex lookup --file '), [])
    assert.deepEqual(inBash('npx tsc --no'), [])
  })

  test('a value may follow an equals sign', () => {
    assert.deepEqual(inBash('domaindex dnshistory --type=M'), ['MX'])
    assert.deepEqual(inBash('domaindex dnshistory --type='), ['A', 'AAAA', 'MX', 'TXT', 'NS', 'SOA', 'CNAME'])
  })

  test('a completion of npx that is there stays', () => {
    const script = `_mine() { :; }\ncomplete -F _mine npx\n${bashCompletion(commands)}\ncomplete -p npx`
    assert.deepEqual(outputOf('bash', ['--norc'], script), ['complete -F _mine npx'])
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
    const { path } = folderOf(t)
    writeFileSync(path('script'), text)
    const { status, stderr } = spawnSync(shell, ['-n', path('script')], { encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''])
  })
}

test('domaindex completion prints the script of the shell that it names', async (t) => {
  const { run } = folderOf(t)
  assert.deepEqual((await run(['completion', 'bash'])).stdout, bashCompletion(commands))
  assert.equal((await run(['completion', 'csh'])).code, 2)
})
