/** The short size of every bench, for bench:all: the arguments that a bench gets, and how long it may take. */

/** `maxMinutes`: bench:all ends the bench after that time and reports it as failed. */
export type ShortRun = { args: readonly string[]; maxMinutes: number }

const size = (args: string, maxMinutes = 5): ShortRun => ({ args: args.split(' ').filter(Boolean), maxMinutes })

/** By the name of the script in package.json, without `bench:`. */
export const SHORT_RUNS: Readonly<Record<string, ShortRun>> = {
  install: size(''),
  serve: size('--names 20000 --rounds 3 --seconds 2'),
  ingest: size('--names 100000 --rounds 2 --seconds 3'),
  scale: size('--names 200000'),
  crash: size('--names 20000 --rounds 3'),
  corruption: size('--stores 20 --names 60 --rows 40 --pages 20 --postgres 10'),
  histories: size('--seconds 30'),
  social: size(''),
  flood: size('--seconds 3'),
  fuzz: size('--inputs 50000'),
  shutdown: size('--rounds 1'),
  overload: size('--names 5000 --seconds 5'),
  paths: size('--inputs 10000'),
  dns: size('--rounds 3 --seconds 2'),
  resolvers: size('--names 500 --sweep 500 --caps 80,400', 10),
  gzip: size('--rounds 3'),
  zone: size('--names 500000 --rounds 2'),
  ct: size('--names 100000 --rounds 1'),
  axfr: size('--names 200000 --rounds 2'),
  snapshot: size('--names 200000 --rounds 2 --seconds 3'),
  crawl: size('--names 4000 --warm-ups 1000 --probes 3000 --rounds 3 --memory-probes 0'),
  lossy: size('--probes 1000'),
  'reference-tools': size(''),
  'direct-path': size('--scripts 2000'),
  postgres: size('--names 20000 --rounds 2 --seconds 2'),
  'crawl-simulation': size('--names 5000 --days 20'),
  similar: size('--names 5000 --rounds 2'),
  page: size('--rounds 3'),
  client: size('--names 5000 --rounds 2'),
  batch: size('--names 5000 --rounds 2 --seconds 2'),
  inverse: size('--names 20000 --rounds 2'),
  search: size('--names 20000 --patterns 200'),
  watch: size('--names 20000 --watches 20000 --matched 2000 --rounds 2'),
  simulation: size('--steps 5000'),
  prune: size('--names 1000'),
  mutation: size('--sample 5', 15),
  soak: size('--seconds 60 --names 500', 12),
  upgrade: size('--from HEAD --names 500', 10),
  year: size('--names 10', 15),
  lookalikes: size('--names 20000 --count 50'),
}
