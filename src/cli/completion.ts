/** `domaindex completion`: prints a script that completes commands and options in a shell. */

import { Argument, type Command } from 'commander'
import { bashCompletion, fishCompletion, zshCompletion } from './completion/scripts.ts'
import { completionWords } from './completion/words.ts'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

const COMPLETION_HELP = `
Add one of these lines to the start-up file of your shell:
  bash  source <(domaindex completion bash)
  zsh   source <(domaindex completion zsh)
  fish  domaindex completion fish | source`

export function defineCompletion(command: Command): void {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', COMPLETION_HELP)
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell](completionWords(command.parent!)))
    })
}
