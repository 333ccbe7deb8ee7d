/** The resolvers of the bench: each on loopback at its default limits, forwarding to one server. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SILENT, SILENT_ADDRESS } from './names.ts'

/** Which program, of which package of Debian, and how it is started. */
export type Software = {
  program: string
  debian: string
  /** Writes its configuration into the folder and says the command. */
  command(folder: string, port: number, upstream: number): string[]
}

export const SOFTWARE: Readonly<Record<string, Software>> = {
  dnsmasq: {
    program: 'dnsmasq',
    debian: 'dnsmasq-base',
    command: (folder, port, upstream) => [
      ...['dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', `--pid-file=${folder}/pid`],
      ...['--no-resolv', '--no-hosts', '--bind-interfaces', '--listen-address=127.0.0.1', `--port=${port}`],
      ...[`--server=127.0.0.1#${upstream}`, '--log-facility=-'],
    ],
  },
  BIND: {
    program: 'named',
    debian: 'bind9',
    command: (folder, port, upstream) => {
      const text = `options {
        directory "${folder}"; pid-file none; session-keyfile none; listen-on-v6 { none; };
        listen-on port ${port} { 127.0.0.1; }; allow-recursion { 127.0.0.0/8; }; dnssec-validation no;
        forwarders { 127.0.0.1 port ${upstream}; }; forward only;
      }; controls { };`
      return ['named', '-f', '-c', written(folder, 'named.conf', text)]
    },
  },
  Unbound: {
    program: 'unbound',
    debian: 'unbound',
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
      return ['unbound', '-d', '-c', written(folder, 'unbound.conf', text)]
    },
  },
  'Knot Resolver': {
    program: 'kresd',
    debian: 'knot-resolver',
    command: (folder, port, upstream) => {
      const text = `net.listen('127.0.0.1', ${port}, { kind = 'dns' })
trust_anchors.remove('.')
cache.open(100 * MB, 'lmdb://${folder}/cache')
policy.add(policy.suffix(policy.FORWARD({'${SILENT_ADDRESS}@${upstream}'}), policy.todnames({'${SILENT}.'})))
policy.add(policy.all(policy.FORWARD({'127.0.0.1@${upstream}'})))
`
      return ['kresd', '-n', '-c', written(folder, 'kresd.conf', text), folder]
    },
  },
  'PowerDNS Recursor': {
    program: 'pdns_recursor',
    debian: 'pdns-recursor',
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
      written(folder, 'recursor.conf', text)
      return ['pdns_recursor', `--config-dir=${folder}`, '--daemon=no', '--write-pid=no']
    },
  },
}

function written(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
