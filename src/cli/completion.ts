/** `domaindex completion`: prints a script that completes commands and options in a shell. */

import { Argument, type Command } from 'commander'
import { bashCompletion, fishCompletion, zshCompletion } from './completion/scripts.ts'
import { completionWords } from './completion/words.ts'

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
