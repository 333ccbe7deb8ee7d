/** Lines of observation files for the tests of commands, generated from numbers. */

const DAY = 86_400_000

/**
 * Returns an observation of the domain with a number. `visit` changes its time and, for every third domain, its
 * address.
 */
export function lineOf(number: number, visit = 0): string {
  const host = number % 3 === 0 ? number + visit : number
  return JSON.stringify({
    domain: nameOf(number),
    observed_at: new Date(Date.UTC(2026, 0, 1) + visit * DAY).toISOString(),
    dns: {
      status: 'ok',
      A: [`192.0.${host % 4}.${host % 251}`],
      AAAA: [],
      NS: ['ns1.example.net', 'ns2.example.net'],
      MX: [{ priority: 10, mail_server: `mx${number % 5}.example.net` }],
      TXT: [[`v=spf1 include:${number % 7}.example.net -all`]],
    },
    web: {
      has_website: true,
      redirect_to_https: number % 2 === 0,
      redirect_to_www: false,
      only_with_www: false,
      redirects_to: number % 10 === 9 ? 'target.example' : null,
      ssl: 'valid',
      social_accounts: [],
      text: `page ${number} of visit ${visit % 2}`,
    },
  })
}

export function nameOf(number: number): string {
  return `name-${number}.example`
}

/** Returns a file of `count` domains with one line per domain and probe. */
export function fileOf(count: number, visits = 1): string {
  return Array.from(
    { length: count * visits },
    (_, index) => `${lineOf(index % count, Math.floor(index / count))}\n`,
  ).join('')
}
