/** Packet loss: a network namespace in which the kernel drops packets, or relays if a namespace is not permitted. */

import { execFileSync } from 'node:child_process'
import { runProcess } from '../measure/process.ts'

/** How packets are dropped: by netem, by netfilter, or by relays of the bench. */
export const LOSS_METHODS = ['netem', 'netfilter', 'relay'] as const
export type LossMethod = (typeof LOSS_METHODS)[number]

/** In a namespace, packets to this address never get a response, not even an error. */
export const BLACK_HOLE = '198.18.0.9'

/** Loopback with packets of 1,500 bytes, sent one by one as on a wire, and a device with nothing behind it. */
const DEVICE_COMMANDS = [
  'ip link set lo up mtu 1500 gso_max_segs 1',
  'ip link add hole type veth peer name nowhere',
  'ip address add 198.18.0.1/24 dev hole',
  'ip link set hole up',
  'ip link set nowhere up',
  `ip neigh add ${BLACK_HOLE} lladdr 02:00:00:00:00:09 dev hole nud permanent`,
]

/**
 * Every packet passes the rule once: when it leaves loopback (netem) or arrives there (netfilter). The sender does not
 * learn about a loss.
 */
const DROP_COMMANDS: Readonly<Record<Exclude<LossMethod, 'relay'>, (percent: number) => string>> = {
  netem: (percent) => `tc qdisc add dev lo root netem loss random ${percent}%`,
  netfilter: (percent) =>
    [
      'nft add table inet lossy',
      "nft add chain inet lossy arriving '{ type filter hook input priority 0; }'",
      `nft add rule inet lossy arriving iif lo numgen random mod 10000 '<' ${Math.round(percent * 100)} counter drop`,
    ].join(' && '),
}

/** Returns the command that runs a program in a network namespace that loses `percent` of the packets. */
export function namespaceCommand(
  method: Exclude<LossMethod, 'relay'>,
  percent: number,
  command: readonly string[],
): string[] {
  const script = [...DEVICE_COMMANDS, DROP_COMMANDS[method](percent), 'exec "$@"'].join(' && ')
  return ['unshare', '--net', 'sh', '-c', script, 'sh', ...command]
}

/** Returns the first method that this system permits. */
export async function findPermittedMethod(percent: number): Promise<{ method: LossMethod; failures: string[] }> {
  const failures: string[] = []
  for (const method of ['netem', 'netfilter'] as const) {
    try {
      await runProcess(namespaceCommand(method, percent, ['true']))
      return { method, failures }
    } catch (error) {
      failures.push(`${method}: ${String(error).trim().split('\n').at(-1)}`)
    }
  }
  return { method: 'relay', failures }
}

/** Counts the packets that this namespace has dropped. */
export function countDroppedPackets(method: Exclude<LossMethod, 'relay'>): number {
  const [program, args, pattern] = (
    method === 'netem'
      ? ['tc', ['-s', 'qdisc', 'show', 'dev', 'lo'], /dropped (\d+)/]
      : ['nft', ['list', 'table', 'inet', 'lossy'], /packets (\d+)/]
  ) as [string, string[], RegExp]
  return Number(pattern.exec(execFileSync(program, args, { encoding: 'utf8' }))?.[1])
}
