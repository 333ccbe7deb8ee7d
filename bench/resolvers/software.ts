/** The resolvers of the bench: each runs on loopback at its default limits and forwards to one server. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SILENT, SILENT_ADDRESS } from './names.ts'

/** A resolver: its program, its Debian package, and its command. */
export type ResolverSoftware = {
  program: string
  debianPackage: string
  /** Writes the configuration into the folder and returns the command. */
  command(folder: string, port: number, upstream: number): string[]
}

export const RESOLVERS: Readonly<Record<string, ResolverSoftware>> = {
  dnsmasq: {
    program: 'dnsmasq',
    debianPackage: 'dnsmasq-base',
    command: (folder, port, upstream) => [
      ...['dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', `--pid-file=${folder}/pid`],
      ...['--no-resolv', '--no-hosts', '--bind-interfaces', '--listen-address=127.0.0.1', `--port=${port}`],
      ...[`--server=127.0.0.1#${upstream}`, '--log-facility=-'],
    ],
  },
  BIND: {
    program: 'named',
    debianPackage: 'bind9',
    command: (folder, port, upstream) => {
      const text = `options {
        directory "${folder}"; pid-file none; session-keyfile none; listen-on-v6 { none; };
        listen-on port ${port} { 127.0.0.1; }; allow-recursion { 127.0.0.0/8; }; dnssec-validation no;
        forwarders { 127.0.0.1 port ${upstream}; }; forward only;
      }; controls { };`
      return ['named', '-f', '-c', writeConfiguration(folder, 'named.conf', text)]
    },
  },
  Unbound: {
    program: 'unbound',
    debianPackage: 'unbound',
    command: (folder, port, upstream) => {
      const text = `server:
  interface: 127.0.0.1@${port}
  do-ip6: no
  do-daemonize: no
  do-not-query-localhost: no
  chroot: ""
  username: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  module-config: "iterator"
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${upstream}
remote-control:
  control-enable: no
`
      return ['unbound', '-d', '-c', writeConfiguration(folder, 'unbound.conf', text)]
    },
  },
  'Knot Resolver': {
    program: 'kresd',
    debianPackage: 'knot-resolver',
    command: (folder, port, upstream) => {
      const text = `net.listen('127.0.0.1', ${port}, { kind = 'dns' })
trust_anchors.remove('.')
cache.open(100 * MB, 'lmdb://${folder}/cache')
policy.add(policy.suffix(policy.FORWARD({'${SILENT_ADDRESS}@${upstream}'}), policy.todnames({'${SILENT}.'})))
policy.add(policy.all(policy.FORWARD({'127.0.0.1@${upstream}'})))
`
      return ['kresd', '-n', '-c', writeConfiguration(folder, 'kresd.conf', text), folder]
    },
  },
  'PowerDNS Recursor': {
    program: 'pdns_recursor',
    debianPackage: 'pdns-recursor',
    command: (folder, port, upstream) => {
      const text = `local-address=127.0.0.1
local-port=${port}
allow-from=127.0.0.0/8
dont-query=
forward-zones-recurse=.=127.0.0.1:${upstream}
dnssec=off
socket-dir=${folder}
security-poll-suffix=
loglevel=2
`
      writeConfiguration(folder, 'recursor.conf', text)
      return ['pdns_recursor', `--config-dir=${folder}`, '--daemon=no', '--write-pid=no']
    },
  },
}

function writeConfiguration(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
