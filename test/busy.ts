/** How busy the machine is: by that tests wait longer where something never comes, and they have to wait for it in full. */

/** Milliseconds of processor time that the look takes. */
const LOOK = 30

/**
 * How many times as long as alone this process takes for its work at the moment: 1 on a machine that does nothing else, some 5
 * beside 8 others on 2 cores.
 */
export function slowness(): number {
  const [from, began] = [process.cpuUsage(), performance.now()]
  for (;;) {
    for (let spin = 0; spin < 100_000; spin++) Math.sqrt(spin)
    const { user, system } = process.cpuUsage(from)
    const spent = (user + system) / 1000
    if (spent >= LOOK) return Math.max(1, (performance.now() - began) / spent)
  }
}
