/** Makes text from outside safe for a terminal: characters that control it or hide text are shown instead of sent. */

/**
 * C0, DEL and C1 (Unicode category Cc), format characters such as bidirectional overrides and zero-width ones (Cf), and
 * line and paragraph separators (Zl, Zp).
 */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Such as `\u{1b}[31m`. */
export function terminalText(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** JSON in which these characters are escapes, so that it is the same value and safe everywhere. */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE_CHARACTERS, (character) => character.split('').map(escapedUnit).join(''))
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Writes a line of a command on standard error. */
export function reportLine(text: string): void {
  process.stderr.write(`domaindex: ${terminalText(text)}\n`)
}
