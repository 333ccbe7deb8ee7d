/** Makes text from outside safe for a terminal: control characters are shown instead of sent. */

/** C0, DEL and C1 (Unicode category Cc), line and paragraph separators, and what reorders text (UAX 9). */
const UNSAFE_CHARACTERS = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Such as `\u{1b}[31m`. */
export function terminalText(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** JSON in which these characters are escapes, so that it is the same value and safe everywhere. */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE_CHARACTERS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Writes a line of this command on standard error. */
export function reportLine(text: string): void {
  process.stderr.write(`domaindex: ${terminalText(text)}\n`)
}
