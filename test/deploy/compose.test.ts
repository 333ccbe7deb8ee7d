/** Tests the compose files: what a service names exists, and only the proxy can be reached from outside. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { parse } from 'yaml'
import { SETTINGS } from '../../src/config/settings.ts'
import { commandFault, ROOT, readText, settingFault } from './deployment.ts'

const FOLDER = 'deploy/compose'
/** A value for each kind of variable that an operator writes into .env. */
const WRITTEN = { SITE: 'api.example.com', CRAWL_CONTACT: 'crawler@example.com', DATABASE_PASSWORD: 'a1b2c3' }

type Build = string | { context: string; dockerfile: string }
type Service = {
  image?: string
  build?: Build
  command?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  networks?: string[] | Record<string, { ipv4_address?: string }>
  depends_on?: string[] | Record<string, { condition: string }>
  ports?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  ulimits?: { nofile: number }
  restart?: string
}
type Compose = {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean } | null>
  volumes: Record<string, unknown>
}

const keysOf = (list: readonly string[] | object | undefined): string[] =>
  Array.isArray(list) ? list : Object.keys(list ?? {})

for (const name of ['one-machine', 'cluster']) {
  suite(`${FOLDER}/${name}.yaml`, () => {
    const text = readText(`${FOLDER}/${name}.yaml`)
    const filled = text.replace(/\$\{(\w+)[^}]*\}/g, (_, variable: keyof typeof WRITTEN) => WRITTEN[variable])
    const { services, networks, volumes } = parse(filled, { merge: true }) as Compose
    const all = Object.entries(services)
    const own = all.filter(([, { image }]) => image?.startsWith('domaindex:'))
    const addressOf = (service: string): string | undefined =>
      Object.values(services[service]?.networks ?? {})
        .map((network) => (network as { ipv4_address?: string }).ipv4_address)
        .find(Boolean)

    test('the example of .env has every variable, and no other', () => {
      const used = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, variable]) => variable!))
      const given = [...readText(`${FOLDER}/${name}.env`).matchAll(/^(\w+)=/gm)].map(([, variable]) => variable!)
      assert.deepEqual(given.toSorted(), [...used].toSorted())
    })

    test('every image has a version, and every folder of a build has a Dockerfile', () => {
      const { version } = JSON.parse(readText('package.json'))
      for (const [service, { image = '', build }] of all) {
        assert.match(image, /:\d+\.\d+\.\d+[\w.-]*$/, service)
        if (image.startsWith('domaindex')) assert.ok(image.endsWith(`:${version}`), image)
        if (build === undefined) continue
        const { context, dockerfile } = typeof build === 'string' ? { context: build, dockerfile: 'Dockerfile' } : build
        assert.ok(existsSync(join(ROOT, FOLDER, context, dockerfile)), service)
      }
    })

    test('every setting and command of domaindex is right', () => {
      assert.ok(own.length > 0)
      for (const [service, { command = [], environment = {} }] of own) {
        assert.equal(commandFault(command), null, service)
        for (const [setting, value] of Object.entries(environment)) assert.equal(settingFault(setting, value), null)
      }
    })

    test('every service, volume, network and file that a service names exists', () => {
      const inUse = { volumes: new Set<string>(), networks: new Set<string>() }
      for (const [service, each] of all) {
        for (const other of keysOf(each.depends_on)) assert.ok(other in services, `${service} needs ${other}`)
        for (const network of keysOf(each.networks)) inUse.networks.add(network)
        for (const volume of each.volumes ?? []) {
          const [source = ''] = volume.split(':')
          if (source.startsWith('.')) assert.ok(existsSync(join(ROOT, FOLDER, source)), volume)
          else inUse.volumes.add(source)
        }
      }
      assert.deepEqual([...inUse.volumes].toSorted(), Object.keys(volumes).toSorted())
      assert.deepEqual([...inUse.networks].toSorted(), Object.keys(networks).toSorted())
    })

    test('the crawler asks the resolvers at their addresses and port', () => {
      const [, port] = /@(\d+)/.exec(readText('deploy/unbound/unbound.conf'))!
      const resolvers = all.filter(([, { image }]) => image?.startsWith('domaindex-unbound:'))
      const expected = resolvers.map(([service]) => `${addressOf(service)}:${port}`)
      const crawler = own.find(([, { command }]) => command?.includes('--resolver'))!
      const asked = crawler[1].command!.filter((_, index, words) => words[index - 1] === '--resolver')
      assert.deepEqual(asked, expected)
      assert.ok(expected.length >= 2, 'two resolvers, so that each can confirm the other')
    })

    test('the proxy alone is published, reaches every server, and is the one that they trust', () => {
      assert.deepEqual(
        all.filter(([, { ports }]) => ports !== undefined).map(([service]) => service),
        ['proxy'],
      )
      const { environment = {}, networks: reached } = services.proxy!
      for (const upstream of environment.UPSTREAMS!.split(' ')) {
        const [host = '', port] = upstream.split(':')
        assert.equal(port, SETTINGS.port.defaultText)
        assert.equal(services[host]?.environment?.DOMAINDEX_TRUSTED_PROXIES, addressOf('proxy'))
        assert.ok(keysOf(services[host]?.networks).some((network) => keysOf(reached).includes(network)))
      }
      const { command = [] } = own.find(([, each]) => each.command?.[0] === 'serve')![1]
      assert.equal(command[0], 'serve')
    })

    test('every container but a database runs without rights, on a file system that it cannot write', () => {
      for (const [service, each] of all.filter(([, { image }]) => !image?.startsWith('citusdata/'))) {
        assert.deepEqual(
          [each.read_only, each.cap_drop, each.security_opt],
          [true, ['ALL'], ['no-new-privileges:true']],
        )
        assert.ok(each.restart, service)
      }
      for (const [, { ulimits }] of own) assert.ok(ulimits!.nofile > Number(SETTINGS.connections.defaultText))
      for (const [service, { networks: joined }] of all.filter(([, { image }]) => image?.startsWith('citusdata/')))
        assert.ok(
          keysOf(joined).every((network) => networks[network]?.internal),
          service,
        )
    })
  })
}

test('the cluster of npm run test:citus has the version of the other one, and is reachable from this machine alone', () => {
  const read = (name: string) => parse(readText(`${FOLDER}/${name}.yaml`), { merge: true }) as Compose
  const { services } = read('citus')
  const image = read('cluster').services.coordinator?.image
  for (const [service, each] of Object.entries(services)) {
    assert.equal(each.image, image, service)
    for (const port of each.ports ?? []) assert.match(port, /^127\.0\.0\.1::/)
    for (const other of keysOf(each.depends_on)) assert.ok(other in services, `${service} needs ${other}`)
  }
  const script = readText('scripts/test-citus.ts')
  for (const service of Object.keys(services)) assert.ok(script.includes(`'${service}'`), service)
})
