/** Tests what `npm run release` writes: versions, changelog, bill of materials, provenance, image and checksums. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNewer, sectionOf, VERSIONED_FILES, withRelease, withVersion } from '../../scripts/release/prepare.ts'
import {
  billOfMaterials,
  checksumLines,
  imageDescription,
  provenance,
  sha256,
} from '../../scripts/release/statements.ts'
import { readText } from '../deploy/deployment.ts'

const { version, description } = JSON.parse(readText('package.json')) as { version: string; description: string }
const SOURCE = { version: '9.8.7', commit: 'c0ffee'.padEnd(40, '0'), at: '2026-11-26T12:00:00.000Z', lockDigest: 'ab' }

test('every file that names the version gets the new one', () => {
  for (const path of VERSIONED_FILES) {
    const text = withVersion(readText(path), version, '9.8.7')
    assert.equal(withVersion(text, '9.8.7', version), readText(path), path)
  }
  const { dependencies } = JSON.parse(withVersion(readText('package.json'), version, '9.8.7'))
  assert.deepEqual(dependencies, JSON.parse(readText('package.json')).dependencies)
  assert.throws(() => withVersion('nothing', '0.1.0', '0.2.0'), /does not name the version 0\.1\.0/)
})

test('a version is above another one by its first part that differs', () => {
  assert.deepEqual(
    [isNewer('0.2.0', '0.1.9'), isNewer('0.10.0', '0.9.0'), isNewer('0.1.0', '0.1.0'), isNewer('0.1.9', '0.2.0')],
    [true, true, false, false],
  )
  assert.throws(() => isNewer('v1', '0.1.0'), /has the form 0\.2\.0/)
})

test('the changes that are not released yet become the section of the release', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- First.\n'
  const released = withRelease(changelog, '0.2.0', '2026-11-26')
  assert.match(released, /^## \[Unreleased\]\n\n## \[0\.2\.0\] - 2026-11-26\n\n### Added$/m)
  assert.equal(sectionOf(released, '0.2.0'), '### Added\n\n- A thing.')
  assert.equal(sectionOf(released, '0.1.0'), '- First.')
  assert.throws(() => withRelease(released, '0.3.0', '2026-12-01'), /nothing under "Unreleased"/)
})

test('a checksum is a line as sha256sum checks it', () => {
  const digest = 'ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73'
  assert.equal(checksumLines([{ name: 'a.tgz', sha256: sha256('content') }]), `${digest}  a.tgz\n`)
})

test('the statements name the source and the files, and are the same in each run', () => {
  const npm = (serial: string) =>
    JSON.stringify({
      serialNumber: serial,
      metadata: { timestamp: serial, component: { name: 'main' } },
      components: [],
    })
  const bill = billOfMaterials(npm('a'), SOURCE, '@domaindex/domaindex')
  assert.equal(bill, billOfMaterials(npm('b'), SOURCE, '@domaindex/domaindex'))
  const { serialNumber, metadata } = JSON.parse(bill)
  assert.match(serialNumber, /^urn:uuid:[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
  assert.deepEqual(metadata, { timestamp: SOURCE.at, component: { name: '@domaindex/domaindex' } })
  const { subject, predicate } = JSON.parse(provenance([{ name: 'a.tgz', sha256: 'cd' }], SOURCE))
  assert.deepEqual(subject, [{ name: 'a.tgz', digest: { sha256: 'cd' } }])
  assert.equal(predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit, SOURCE.commit)
})

test('the image has the base of the Dockerfile, and a command that labels it', () => {
  const dockerfile = readText('deploy/Dockerfile')
  const { base, annotations, build } = JSON.parse(imageDescription(SOURCE, description, dockerfile))
  assert.ok(dockerfile.includes(`\nFROM ${base}\nENV NODE_ENV=production\n`), base)
  assert.equal(annotations['org.opencontainers.image.version'], '9.8.7')
  for (const [name, value] of Object.entries(annotations)) assert.ok(build.includes(`--label '${name}=${value}'`))
})
