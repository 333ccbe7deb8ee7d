/** Gives the files of the project the version of a release. Pure: text in, text out. */

/** The files that name the version, by their path from the root. package-lock.json follows from package.json. */
export const VERSIONED_FILES: readonly string[] = [
  'package.json',
  'client/package.json',
  'deploy/compose/cluster.yaml',
  'deploy/compose/one-machine.yaml',
  'docs/install.md',
]

/** What names the version in them: a field of JSON, the tag of an image, and the name of a package. */
const VERSION_FORMS: readonly ((version: string) => string)[] = [
  (version) => `"version": "${version}"`,
  (version) => `domaindex:${version}`,
  (version) => `domaindex-unbound:${version}`,
  (version) => `domaindex-domaindex-${version}.tgz`,
]

const UNRELEASED = '## [Unreleased]'
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/

/** Whether a version (MAJOR.MINOR.PATCH) is above another one. Throws if it has another form. */
export function isNewer(version: string, former: string): boolean {
  const [a, b] = [version, former].map((text) => VERSION.exec(text)?.slice(1).map(Number))
  if (a === undefined || b === undefined) throw new Error(`${version}: a version has the form 0.2.0`)
  const index = a.findIndex((part, position) => part !== b[position])
  return index >= 0 && a[index]! > b[index]!
}

/** Replaces the version everywhere in a file. Throws if the file does not name it. */
export function withVersion(text: string, former: string, version: string): string {
  const replaced = VERSION_FORMS.reduce((all, form) => all.replaceAll(form(former), form(version)), text)
  if (replaced === text) throw new Error(`a file does not name the version ${former}`)
  return replaced
}

/** Gives the section "Unreleased" of the changelog the version and the day. Throws if it is empty. */
export function withRelease(changelog: string, version: string, day: string): string {
  const [before, rest] = changelog.split(`\n${UNRELEASED}\n`)
  if (rest === undefined || rest.split('\n## [')[0]!.trim() === '')
    throw new Error('CHANGELOG.md has nothing under "Unreleased": say there what changed')
  return `${before}\n${UNRELEASED}\n\n## [${version}] - ${day}\n${rest}`
}

/** The section of a release in the changelog, without its heading. */
export function sectionOf(changelog: string, version: string): string {
  const [, rest = ''] = changelog.split(`\n## [${version}]`)
  return rest
    .slice(rest.indexOf('\n') + 1)
    .split('\n## [')[0]!
    .trim()
}
