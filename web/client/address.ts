/** The address of the page in parts. */

/** The path without a slash at its end. */
export function pathOf({ pathname }: { pathname: string }): string {
  return pathname.replace(/(?<=.)\/+$/, '')
}

/** `area`: the first segment. `subject`, `view`: the next ones, decoded. Empty if they are missing. */
export function partsOf(path: string): { area: string; subject: string; view: string } {
  const [, area = '', subject = '', view = ''] = path.split('/').map(decoded)
  return { area, subject, view }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
