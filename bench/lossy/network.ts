/**
 * Where packets get lost: a network namespace of its own in which the system drops them, or relays where that is
 * refused.
 */

import { execFileSync } from 'node:child_process'
import { run } from '../measure/process.ts'

/** How packets are dropped: by netem, by netfilter, or by relays of ours. */
export const WAYS = ['netem', 'netfilter', 'relay'] as const
export type Way = (typeof WAYS)[number]

/** In a namespace, what is sent there is never answered, not even by a refusal. */
export const BLACK_HOLE = '198.18.0.9'

/** Packets of 1,500 bytes, each for itself, as on a wire; and a device that nobody answers behind. */
const DEVICES = [
  'ip link set lo up mtu 1500 gso_max_segs 1',
  'ip link add hole type veth peer name nowhere',
  'ip address add 198.18.0.1/24 dev hole',
  'ip link set hole up',
  'ip link set nowhere up',
  `ip neigh add ${BLACK_HOLE} lladdr 02:00:00:00:00:09 dev hole nud permanent`,
]

/**
 * Every packet passes once, as those of loopback leave it (netem) or come in (netfilter): what is lost says nothing to
 * who sent it.
 */
const DROPS: Readonly<Record<Exclude<Way, 'relay'>, (percent: number) => string>> = {
  netem: (percent) => `tc qdisc add dev lo root netem loss random ${percent}%`,
  netfilter: (percent) =>
    [
      'nft add table inet lossy',
      "nft add chain inet lossy arriving '{ type filter hook input priority 0; }'",
      `nft add rule inet lossy arriving iif lo numgen random mod 10000 '<' ${Math.round(percent * 100)} counter drop`,
    ].join(' && '),
}

/** The words that run a program in a namespace of its own that loses so many of a hundred packets. */
export function inNamespace(way: Exclude<Way, 'relay'>, percent: number, command: readonly string[]): string[] {
  const script = [...DEVICES, DROPS[way](percent), 'exec "$@"'].join(' && ')
  return ['unshare', '--net', 'sh', '-c', script, 'sh', ...command]
}

/** The first way that this system permits. */
export async function permittedWay(percent: number): Promise<{ way: Way; refusals: string[] }> {
  const refusals: string[] = []
  for (const way of ['netem', 'netfilter'] as const) {
    try {
      await run(inNamespace(way, percent, ['true']))
      return { way, refusals }
    } catch (error) {
      refusals.push(`${way}: ${String(error).trim().split('\n').at(-1)}`)
    }
  }
  return { way: 'relay', refusals }
}

/** How many packets this namespace has dropped. */
export function droppedBy(way: Exclude<Way, 'relay'>): number {
  const [program, words, pattern] = (
    way === 'netem'
      ? ['tc', ['-s', 'qdisc', 'show', 'dev', 'lo'], /dropped (\d+)/]
      : ['nft', ['list', 'table', 'inet', 'lossy'], /packets (\d+)/]
  ) as [string, string[], RegExp]
  return Number(pattern.exec(execFileSync(program, words, { encoding: 'utf8' }))?.[1])
}
