/** Reads the files of deploy/, and says what in them does not exist in the program. */

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import type { Command } from 'commander'
import { createProgram } from '../../src/cli/program/program.ts'
import { SETTINGS } from '../../src/config/settings.ts'

export const ROOT = normalize(`${import.meta.dirname}/../..`)

/** The paths of all files of deploy/, from the root of the project. */
export const DEPLOY_FILES = globSync('deploy/**/*', { cwd: ROOT, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length + 1))
  .sort()

const program = await createProgram(null)

/** `path`: from the root of the project. */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Why a command line of domaindex, without the program's name, is wrong; null if it is right. */
export function commandFault(words: readonly string[]): string | null {
  let command: Command = program
  for (const word of words) {
    const option = /^--[a-z-]+/.exec(word)?.[0]
    const below = command.commands.find((each) => each.name() === word)
    if (option !== undefined) {
      if (!command.options.some(({ long }) => long === option)) return `${command.name()} has no option ${option}`
    } else if (below !== undefined) command = below
    else if (command.commands.length > 0 && word !== 'help') return `${word} is not a command of ${command.name()}`
  }
  return command === program && words[0] !== 'help' ? 'there is no command' : null
}

/** Why a setting with a value is wrong; null if it is right. An empty value stands for any other. */
export function settingFault(name: string, value: string): string | null {
  const setting = Object.values(SETTINGS).find((each) => each.name === name)
  if (setting === undefined) return `${name} is not a setting`
  return value !== '' && setting.parse(value) === undefined ? `${name} must be ${setting.allowed}` : null
}

/** Runs a program that a machine may lack. Returns null if it is not there. */
export function runIfInstalled(program: string, args: readonly string[]): { status: number; output: string } | null {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', env: searchPath() })
  return error === undefined ? { status: status ?? 1, output: stdout + stderr } : null
}

/** The environment with the folder in which Debian installs servers. */
export function searchPath(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
}
