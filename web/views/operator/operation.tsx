/** /operator/crawl: what `doctor` found, the crawl, the nightly jobs and the held days. */

import { callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { Button } from '../../parts/button.tsx'
import { Badge, Card, Facts } from '../../parts/card.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { formatBytes, formatCount } from '../../parts/text/numbers.ts'
import { formatUtc, parseInstant } from '../../parts/text/times.ts'
import { useForm } from '../account/form.tsx'
import { DoctorCards, type DoctorReport } from './doctor.tsx'

type StoreSizes = {
  bytes: number
  write_ahead_log_bytes: number
  /** When the tables were measured. */
  measured: string | null
  tables: { name: string; bytes: number }[]
}

/** The tables that are shown; the others are small. */
const MAX_TABLES = 20

type Held = { date: string; rows: number; reason: string; release_requested: boolean }

type HeldCardProps = { held: readonly Held[]; reload: () => Promise<void> }

type Crawler = { holder: string; rate: number | null; pause: { seconds: number; reason: string } | null }
type Crawl = {
  names: number
  never_probed: number
  due: number
  overdue: number
  /** Of ALL_RANGES: those whose names are not counted yet. */
  unswept_ranges: number
  rate: number
  lag: { p50: number; p95: number } | null
  crawlers: Crawler[]
}
type Run = {
  job: string
  date: string | null
  started: string
  ended: string | null
  rows: number | null
  error: string | null
}
type Operation = {
  crawl: Crawl
  locks: { name: string; holder: string }[]
  held: Held[]
  store: StoreSizes
  doctor: DoctorReport[]
  runs: Run[]
}

/** The ranges that the names are divided into. A crawler counts them one after the other. */
const ALL_RANGES = 256

export function OperationPage() {
  const { loaded, reload } = useFresh<Operation>('/admin/v1/operation')
  return (
    <LoadedView loaded={loaded} what="the state of the crawl" onRetry={() => void reload()}>
      {({ crawl, locks, held, store, doctor, runs }) => (
        <div class="stack">
          <DoctorCards reports={doctor} />
          <CrawlCard crawl={crawl} />
          <HeldCard held={held} reload={reload} />
          <JobsCard runs={runs} scheduler={locks.find(({ name }) => name === 'scheduler')?.holder} />
          <StoreCard store={store} />
        </div>
      )}
    </LoadedView>
  )
}

function CrawlCard({ crawl }: { crawl: Crawl }) {
  const { names, never_probed: never, due, overdue, unswept_ranges: unswept, rate, lag, crawlers } = crawl
  const counted = (count: number): string => (unswept === ALL_RANGES ? 'not counted yet' : formatCount(count))
  return (
    <Card title="Crawl">
      <Facts
        rows={[
          ['Names', counted(names)],
          ['Never probed', counted(never)],
          ['Due now', counted(due)],
          ['Overdue for a day', counted(overdue)],
          ['Probes per second', rate.toFixed(1)],
          [
            'Lag',
            lag === null ? 'unknown' : `half up to ${formatCount(lag.p50)} s, 95 % up to ${formatCount(lag.p95)} s`,
          ],
        ]}
      />
      {crawlers.length === 0 ? (
        <EmptyState title="No crawler runs">domaindex serve --crawl starts one.</EmptyState>
      ) : (
        <Table
          caption="Crawlers"
          stacks
          keyOf={({ holder }) => holder}
          rows={crawlers}
          columns={[
            { name: 'Crawler', cell: ({ holder }) => <span class="wrap">{holder}</span> },
            { name: 'State', cell: ({ pause }) => <CrawlerState pause={pause} /> },
          ]}
        />
      )}
    </Card>
  )
}

function CrawlerState({ pause }: Pick<Crawler, 'pause'>) {
  if (pause === null) return <Badge tone="good">probes</Badge>
  return (
    <>
      <Badge tone="warn">paused</Badge> {pause.reason}
    </>
  )
}

function JobsCard({ runs, scheduler }: { runs: readonly Run[]; scheduler: string | undefined }) {
  return (
    <Card title="Jobs of the last seven days">
      <p class="hint wrap">{scheduler === undefined ? 'No process runs the jobs.' : `They run in ${scheduler}.`}</p>
      {runs.length === 0 ? (
        <EmptyState title="No job has run">The first ones run in the night after the start.</EmptyState>
      ) : (
        <Table
          caption="Runs of jobs, newest first"
          stacks
          keyOf={({ job, date, started }) => `${job} ${date} ${started}`}
          rows={runs}
          columns={[
            { name: 'Job', cell: ({ job, date }) => `${job}${date === null ? '' : ` of ${date}`}` },
            { name: 'Started', cell: ({ started }) => formatUtc(parseInstant(started)) },
            { name: 'Result', cell: (run) => <RunResult run={run} /> },
          ]}
        />
      )}
    </Card>
  )
}

function RunResult({ run: { ended, rows, error } }: { run: Run }) {
  if (error !== null) return <span class="wrap">{`failed: ${error}`}</span>
  if (ended === null) return <Badge tone="accent">runs</Badge>
  return <>{rows === null ? 'done' : `${formatCount(rows)} rows`}</>
}

/** The daily files that the quality check holds, and their release. */
function HeldCard({ held, reload }: HeldCardProps) {
  return (
    <Card title="Held days">
      {held.length === 0 ? (
        <EmptyState title="No day is held">Every daily file that was built is published.</EmptyState>
      ) : (
        <>
          <p class="hint">
            Check where the names of such a day come from. If they are correct, release it: the jobs publish its file
            within a minute.
          </p>
          <Table
            caption="Daily files that are held"
            stacks
            keyOf={({ date }) => date}
            rows={held}
            columns={[
              { name: 'Day', cell: ({ date }) => date },
              { name: 'Names', isNumber: true, cell: ({ rows }) => formatCount(rows) },
              { name: 'Reason', cell: ({ reason }) => reason },
              { name: 'Publish it', cell: (day) => <Release day={day} reload={reload} /> },
            ]}
          />
        </>
      )}
    </Card>
  )
}

function Release({
  day: { date, release_requested: isRequested },
  reload,
}: {
  day: Held
  reload: HeldCardProps['reload']
}) {
  const { error, isBusy, run } = useForm()
  if (isRequested) return <Badge tone="accent">released, being built</Badge>
  const release = (): void =>
    void run(async () => {
      await callServer('/admin/v1/releases', { method: 'POST', body: { date } })
      announce(`${date} is released.`)
      await reload()
    })
  return (
    <>
      {error !== null && <ErrorBox error={error} />}
      <Button isBusy={isBusy} onClick={release}>
        Release <span class="hidden">{date}</span>
      </Button>
    </>
  )
}

/** The size of the store, and of its tables when they were last measured. */
function StoreCard({ store }: { store: StoreSizes }) {
  const { bytes, write_ahead_log_bytes: log, measured, tables } = store
  return (
    <Card title="Store" aside={measured === null ? undefined : `tables of ${formatUtc(parseInstant(measured))}`}>
      <Facts
        rows={[
          ['Facts', formatBytes(bytes)],
          ['Write-ahead log', formatBytes(log)],
        ]}
      />
      {measured === null ? (
        <EmptyState title="The tables are not measured">domaindex sizes measures them.</EmptyState>
      ) : (
        <Table
          caption="Tables with their indexes, the largest first"
          isDense
          keyOf={({ name }) => name}
          rows={tables.slice(0, MAX_TABLES)}
          columns={[
            { name: 'Table', cell: ({ name }) => <span class="mono wrap">{name}</span> },
            { name: 'Size', isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
          ]}
        />
      )}
    </Card>
  )
}
