/** The statements about the files of a release: bill of materials, provenance, image, checksums. Pure. */

import { createHash } from 'node:crypto'

/** `commit`: its hash. `at`: the time of the commit as ISO 8601, so that a release can be built again with the same bytes. */
export type ReleaseSource = { version: string; commit: string; at: string; lockDigest: string }
export type ReleaseFile = { name: string; sha256: string }

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** A line for each file, as sha256sum writes and checks them. */
export function checksumLines(files: readonly ReleaseFile[]): string {
  return files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')
}

/**
 * The bill of materials that npm writes (CycloneDX 1.5), with the name of the package instead of that of its folder, and
 * without what differs from run to run.
 */
export function billOfMaterials(npm: string, { commit, at }: ReleaseSource, name: string): string {
  const bill = JSON.parse(npm) as { serialNumber: string; metadata: { timestamp: string; component: { name: string } } }
  const digest = sha256(commit)
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `5${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`]
  bill.serialNumber = `urn:uuid:${parts.join('-')}-${digest.slice(20, 32)}`
  bill.metadata.timestamp = at
  bill.metadata.component.name = name
  return `${JSON.stringify(bill, null, 2)}\n`
}

/** The statement of provenance of the files: in-toto Statement v1 with the predicate SLSA Provenance v1. Not signed. */
export function provenance(files: readonly ReleaseFile[], { version, commit, at, lockDigest }: ReleaseSource): string {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256: digest }) => ({ name, digest: { sha256: digest } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:domaindex:release:v1',
        externalParameters: { command: `npm run release -- ${version}` },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lockDigest } },
        ],
      },
      runDetails: { builder: { id: 'urn:domaindex:maintainer' }, metadata: { invocationId: commit, startedOn: at } },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}

/** The description of the image: its annotations (OCI Image Spec, "Annotations"), and how to build it. */
export function imageDescription(
  { version, commit, at }: ReleaseSource,
  description: string,
  dockerfile: string,
): string {
  const annotations = {
    'org.opencontainers.image.title': 'domaindex',
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': commit,
    'org.opencontainers.image.created': at,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  }
  const labels = Object.entries(annotations).map(([name, value]) => `--label '${name}=${value}'`)
  const base = [...dockerfile.matchAll(/^FROM (\S+)$/gm)].at(-1)?.[1] ?? null
  const build = ['docker build --file deploy/Dockerfile', `--tag domaindex:${version}`, ...labels, '.'].join(' ')
  return `${JSON.stringify({ base, dockerfile: { sha256: sha256(dockerfile) }, annotations, build }, null, 2)}\n`
}
