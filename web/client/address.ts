/** The address of the page in parts. */

/** The path without a slash at its end. */
export function pathOf({ pathname }: { pathname: string }): string {
  return pathname.replace(/(?<=.)\/+$/, '')
}

/** `section`: the first segment. `subject`, `view`: the next ones, decoded. Empty if they are missing. */
export function partsOf(path: string): { section: string; subject: string; view: string } {
  const [, section = '', subject = '', view = ''] = path.split('/').map(decoded)
  return { section, subject, view }
}

/** The address or network of an address of the page such as `/ip/192.0.2.0/24`. */
export function networkOf({ subject, view }: { subject: string; view: string }): string {
  return view === '' ? subject : `${subject}/${view}`
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The areas of the page. Each has an `area.tsx` in `views/`: one script of the bundle, loaded when it is shown. */
export type Area = 'explorer' | 'watches' | 'account' | 'sign-in' | 'operator' | 'reference'

/** By the first segment. */
const AREAS: Readonly<Record<string, Area>> = {
  domain: 'explorer',
  ip: 'explorer',
  certificate: 'explorer',
  search: 'explorer',
  watches: 'watches',
  account: 'account',
  'sign-in': 'sign-in',
  'sign-up': 'sign-in',
  setup: 'sign-in',
  verify: 'sign-in',
  reset: 'sign-in',
  operator: 'operator',
  docs: 'reference',
}

/** The area of an address; null if it has none, as the start page. */
export function areaOf(path: string): Area | null {
  const { section } = partsOf(path)
  return Object.hasOwn(AREAS, section) ? AREAS[section]! : null
}

/** Whether an area is only for people who are signed in. */
export function needsAccount(area: Area): boolean {
  return area !== 'sign-in' && area !== 'reference'
}

/** The area that an address leads to: the sign-in if it needs an account and nobody is signed in. */
export function reachedArea(path: string, isSignedOut: boolean): Area | null {
  const area = areaOf(path)
  return area !== null && needsAccount(area) && isSignedOut ? 'sign-in' : area
}
