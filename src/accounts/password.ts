/** The rules of passwords (NIST SP 800-63B-4, section 3.1.1.2): long enough, any characters, and not a common one. */

/** Characters of a password. */
export const MIN_PASSWORD_LENGTH = 12
const MAX_PASSWORD_LENGTH = 256
/** A password with fewer different characters is too easy to guess. */
const MIN_DIFFERENT_CHARACTERS = 5

/** Common passwords and patterns that are long enough, without the digits at their end. */
const COMMON = [
  'abcdefghijkl',
  'administrator',
  'changemechangeme',
  'correcthorsebatterystaple',
  'iloveyouiloveyou',
  'letmeinletmein',
  'passwordpassword',
  'qwertyqwerty',
  'qwertyuiopasdf',
  'qwertzuiopasdf',
  'welcomewelcome',
]
const COMMON_STARTS = [
  'password',
  'passw0rd',
  'qwertyuiop',
  'qwertzuiop',
  'domaindex',
  'letmein',
  'iloveyou',
  'welcome',
]

/** The form in which a password is hashed and compared: NFKC, so that every keyboard gives the same one. */
export function normalizePassword(text: string): string {
  return text.normalize('NFKC')
}

/** Why a text cannot be the password of an account, in a sentence for its owner; null if it can. `email`: if known. */
export function passwordProblem(text: string, email: string | null): string | null {
  const password = normalizePassword(text)
  const length = [...password].length
  if (length < MIN_PASSWORD_LENGTH) return `The password must have at least ${MIN_PASSWORD_LENGTH} characters.`
  if (length > MAX_PASSWORD_LENGTH) return `The password may have at most ${MAX_PASSWORD_LENGTH} characters.`
  const plain = password.toLowerCase()
  if (email !== null && isLikeEmail(plain, email.toLowerCase())) return 'The password must not be the email address.'
  if (isCommon(plain)) return 'This password is one of the first that anyone would try: choose another one.'
  return null
}

function isLikeEmail(plain: string, email: string): boolean {
  return plain.includes(email) || withoutSuffix(plain) === email.split('@')[0]
}

function isCommon(plain: string): boolean {
  if (new Set(plain).size < MIN_DIFFERENT_CHARACTERS) return true
  const word = withoutSuffix(plain)
  return COMMON.includes(plain) || COMMON.includes(word) || COMMON_STARTS.includes(word) || isSequence(plain)
}

/** The text without the digits and signs at its end. */
function withoutSuffix(plain: string): string {
  return plain.replace(/[^\p{Letter}]+$/u, '')
}

/** Whether each character is next to the one before it, as in `123456789012` or `abcdefghijkl`. */
function isSequence(plain: string): boolean {
  const codes = [...plain].map((character) => character.codePointAt(0)!)
  const steps = codes.slice(1).map((code, index) => code - codes[index]!)
  return steps.filter((step) => Math.abs(step) === 1).length >= steps.length - 1
}
