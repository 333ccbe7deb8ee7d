/** The words that a shell completes after each command, from the command-line program itself. */

import type { Command } from 'commander'

/**
 * The words after a command, such as `account token`; '' is the program. `options`: long options. `valued`: those that
 * take a value, with the allowed values; files if there are none.
 */
export type CompletionWords = {
  path: string
  subcommands: readonly Word[]
  options: readonly Word[]
  valued: readonly { name: string; choices: readonly string[] }[]
  /** The allowed values of each argument; none if it may be anything. */
  choices: readonly (readonly string[])[]
}
export type Word = { name: string; description: string }

/** A list with one element per command, the program first. */
export function completionWords(command: Command, path = ''): CompletionWords[] {
  const { visibleCommands, visibleOptions } = visibleParts(command)
  const words: CompletionWords = {
    path,
    subcommands: visibleCommands.map((each) => ({ name: each.name(), description: each.description() })),
    options: visibleOptions.flatMap(({ long, description }) => (long ? [{ name: long, description }] : [])),
    valued: visibleOptions.flatMap(({ long, required, argChoices }) =>
      long && required ? [{ name: long, choices: argChoices ?? [] }] : [],
    ),
    choices: command.registeredArguments.map(({ argChoices = [] }) => argChoices),
  }
  const below = command.commands.flatMap((each) => completionWords(each, `${path} ${each.name()}`.trim()))
  return [words, ...below]
}

function visibleParts(command: Command) {
  const help = command.createHelp()
  return { visibleCommands: help.visibleCommands(command), visibleOptions: help.visibleOptions(command) }
}
