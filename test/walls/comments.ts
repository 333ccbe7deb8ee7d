/** The names of code and the paths of files that the comments of a TypeScript file mention. */

import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'

/** `text` is a name or a path, at a line that counts from 1. */
type Mention = { text: string; line: number }

/** `words`: every word of the code, also of its strings. `imports`: paths from the root of the repository. */
export type CommentedFile = { names: Mention[]; paths: Mention[]; words: ReadonlySet<string>; imports: string[] }

/** Names: with a capital inside or in front, called, followed by a colon, or opening the comment. */
const NAME_FORMS = [
  /[A-Za-z][\w$]*[a-z][A-Z][\w$]*|[a-z][A-Z][\w$]*|[A-Z][a-z][\w$]*/,
  /[A-Za-z_$][\w$]*(?=\([^`]*\)`)/,
  /[a-z]\w*(?=`:)/,
  /(?<=^\*?\s*`)[a-z]\w*(?=`)/,
]
/** Such a name in backticks, also as the last member of `a.b` and with arguments. */
const NAME = new RegExp(`\`(?:\\w+\\.)*(${NAME_FORMS.map(({ source }) => source).join('|')})(?:\\([^\`]*\\))?\``, 'g')

/** Not the end of a URL or of a pattern with an asterisk, and nothing in `dist/`. */
const PATH = /(?<![\w*/:.-])(?!dist\/)(?:\.{1,2}\/)*(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:ts|js|sql|md)\b(?![/*])/g

/** Reads `text` as the file at `path`, from the root of the repository, with slashes. */
export function readComments(path: string, text: string): CommentedFile {
  const { comments, module } = parseSync(path, text)
  const mentions = (pattern: RegExp) =>
    comments.flatMap(({ value, start }) =>
      [...value.matchAll(pattern)].map((found) => ({
        text: found[1] ?? found[0],
        line: text.slice(0, start + found.index).split('\n').length,
      })),
    )
  const code = comments.reduce(
    (left, { start, end }) => left.slice(0, start) + ' '.repeat(end - start) + left.slice(end),
    text,
  )
  return {
    names: mentions(NAME),
    paths: mentions(PATH),
    words: new Set(code.match(/[A-Za-z_$][\w$]*/g)),
    imports: module.staticImports.map(({ moduleRequest }) => posix.join(posix.dirname(path), moduleRequest.value)),
  }
}
