/** `domaindex completion`: prints a script that completes commands and options in a shell. */

import { Argument, type Command } from 'commander'

/**
 * The words after a command, such as `account token`; '' is the program. `options`: long options. `valued`: those that
 * take a value, with the allowed values; files if there are none.
 */
type CompletionWords = {
  path: string
  subcommands: readonly Word[]
  options: readonly Word[]
  valued: readonly { name: string; choices: readonly string[] }[]
  /** The allowed values of each argument; none if it may be anything. */
  choices: readonly (readonly string[])[]
}
export type Word = { name: string; description: string }

/** A text as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const quotedForFish = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

const namesOf = ({ subcommands, options }: CompletionWords): string =>
  [...subcommands, ...options].map(({ name }) => name).join(' ')

/** After `npx domaindex`, completes as after `domaindex`. */
const NPX_FUNCTION = `_domaindex_npx() {
  if [ "\${COMP_CWORD}" -gt 1 ] && [ "\${COMP_WORDS[1]}" = domaindex ]; then
    COMP_WORDS=("\${COMP_WORDS[@]:1}")
    COMP_CWORD=$((COMP_CWORD-1))
    _domaindex
  elif [ "\${COMP_CWORD}" -eq 1 ]; then
    COMPREPLY=($(compgen -W domaindex -- "\${COMP_WORDS[COMP_CWORD]}"))
  else
    COMPREPLY=()
  fi
}
`

/** Whether npx has a completion already, which stays. */
const BASH_HAS_NPX = 'complete -p npx > /dev/null 2>&1'
const ZSH_HAS_NPX = '(( $+_comps[npx] ))'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

const COMPLETION_HELP = `
Add one of these lines to the start-up file of your shell. The script completes domaindex and npx domaindex.
  bash  source <(domaindex completion bash)
  zsh   source <(domaindex completion zsh)
  fish  domaindex completion fish | source

npx finds the command of a checkout only there, so keep its script in a file, and add the second line instead:
  npx domaindex completion bash > ~/.domaindex-completion
  source ~/.domaindex-completion`

export function defineCompletion(command: Command): void {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', COMPLETION_HELP)
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell](completionWords(command.parent!)))
    })
}

/**
 * Finds the command in the words before the cursor, and completes what may follow it; files where nothing fits. The
 * values of an argument fit from its position on, because bash splits an email address into several words. zsh runs
 * this script too: it needs `$((…))` in a length, and `words` is a variable of its own.
 */
export function bashCompletion(commands: readonly CompletionWords[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const words = commands.map((each) => `    ${quoted(each.path)}) candidates=${quoted(namesOf(each))} ;;`)
  const valued = commands.flatMap(({ path, valued }) =>
    valued.map(
      ({ name, choices }) => `    ${quoted(`${path} ${name}`.trim())}) choices=${quoted(choices.join(' '))} ;;`,
    ),
  )
  const positions = commands.flatMap(({ path, choices }) =>
    choices.flatMap((each, at) =>
      each.length === 0
        ? []
        : [`    ${quoted(path)}) [ $position -lt ${at} ] || candidates="$candidates "${quoted(each.join(' '))} ;;`],
    ),
  )
  return `# Completion of domaindex in bash. domaindex completion bash prints it.
_domaindex_choices() {
  case "$1" in
${valued.join('\n')}
    *) return 1 ;;
  esac
}
_domaindex() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous='' command='' word candidates='' choices='' position=0
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    [ "$word" != '=' ] || continue
    if _domaindex_choices "\${command:+$command }$previous"; then
      previous=''
      continue
    fi
    previous="$word"
    case "\${command:+$command }$word" in
    ${paths.join('|')}) command="\${command:+$command }$word" position=0 ;;
    *' -'*) ;;
    *) position=$((position+1)) ;;
    esac
  done
  COMPREPLY=()
  [ "$current" != '=' ] || current=''
  if _domaindex_choices "\${command:+$command }$previous"; then
    COMPREPLY=($(compgen -W "$choices" -- "$current"))
    return
  fi
  case "$command" in
${words.join('\n')}
  esac
  case "$command" in
${positions.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
${NPX_FUNCTION}complete -o default -F _domaindex domaindex
${BASH_HAS_NPX} || complete -o default -F _domaindex_npx npx
`
}

/** zsh runs the functions of bash. */
export function zshCompletion(commands: readonly CompletionWords[]): string {
  return `# Completion of domaindex in zsh. domaindex completion zsh prints it.
autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
${bashCompletion(commands)
  .replace(/^#.*\n/, '')
  .replace(BASH_HAS_NPX, () => ZSH_HAS_NPX)}`
}

/** A line for each subcommand, option and value. Its condition is the exact command before it. */
export function fishCompletion(commands: readonly CompletionWords[]): string {
  const lines = commands.flatMap((each) => {
    const on = `complete -c domaindex -n ${quotedForFish(`__domaindex_at ${each.path}`.trim())}`
    return [
      ...each.subcommands.map(({ name, description }) => `${on} -f -a ${name} -d ${quotedForFish(description)}`),
      ...each.choices.flat().map((choice) => `${on} -f -a ${quotedForFish(choice)}`),
      ...each.options.map(({ name, description }) => {
        const valued = each.valued.find((value) => value.name === name)
        const value =
          valued === undefined
            ? ''
            : valued.choices.length === 0
              ? ' -r'
              : ` -x -a ${quotedForFish(valued.choices.join(' '))}`
        return `${on} -l ${name.slice(2)}${value} -d ${quotedForFish(description)}`
      }),
    ]
  })
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quotedForFish(path))
  return `# Completion of domaindex in fish. domaindex completion fish prints it.
function __domaindex_at
  set -l command ''
  for word in (commandline -opc)[2..]
    set -l longer (string trim -- "$command $word")
    contains -- $longer ${paths.join(' ')}; and set command $longer
  end
  test "$command" = "$argv"
end
function __domaindex_npx
  set -l words (commandline -opc)
  complete -C (string join ' ' -- $words[2..] (commandline -ct))
end
complete -c npx -n 'test (count (commandline -opc)) -eq 1' -a domaindex -d 'Domain intelligence'
complete -c npx -n 'test (count (commandline -opc)) -gt 1; and test (commandline -opc)[2] = domaindex' -f -a '(__domaindex_npx)'
${lines.join('\n')}
`
}

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
