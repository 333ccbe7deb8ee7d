/** The completion scripts of bash, zsh and fish. */

import type { CompletionWords } from './words.ts'

/** A text as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const quotedForFish = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

const namesOf = ({ subcommands, options, choices }: CompletionWords): string =>
  [...subcommands, ...options]
    .map(({ name }) => name)
    .concat(choices)
    .join(' ')

/**
 * Finds the command in the words before the cursor, and completes what may follow it; files where nothing fits. zsh runs
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
  return `# Completion of domaindex in bash. domaindex completion bash prints it.
_domaindex() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' word candidates='' choices='-'
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "\${command:+$command }$word" in
    ${paths.join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  COMPREPLY=()
  case "\${command:+$command }$previous" in
${valued.join('\n')}
  esac
  if [ "$choices" != '-' ]; then
    COMPREPLY=($(compgen -W "$choices" -- "$current"))
    return
  fi
  case "$command" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _domaindex domaindex
`
}

/** zsh runs the functions of bash. */
export function zshCompletion(commands: readonly CompletionWords[]): string {
  return `# Completion of domaindex in zsh. domaindex completion zsh prints it.
autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
${bashCompletion(commands).replace(/^#.*\n/, '')}`
}

/** A line for each subcommand, option and value. Its condition is the exact command before it. */
export function fishCompletion(commands: readonly CompletionWords[]): string {
  const lines = commands.flatMap((each) => {
    const on = `complete -c domaindex -n ${quotedForFish(`__domaindex_at ${each.path}`.trim())}`
    return [
      ...each.subcommands.map(({ name, description }) => `${on} -f -a ${name} -d ${quotedForFish(description)}`),
      ...each.choices.map((choice) => `${on} -f -a ${quotedForFish(choice)}`),
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
${lines.join('\n')}
`
}
