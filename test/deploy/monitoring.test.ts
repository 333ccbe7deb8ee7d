/** Tests the alerts and the dashboard: every metric that they use is exported, and every exported one is on them. */

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parse } from 'yaml'
import { SETTINGS } from '../../src/config/settings.ts'
import { serverOf } from '../api/server.ts'
import { processWorld } from '../crawler/processes.ts'
import { codes, readPage, tableOf } from '../docs/markdown.ts'
import { until } from '../until.ts'
import { readText, runIfInstalled } from './deployment.ts'

const FOLDER = 'deploy/monitoring'
/** Labels that Prometheus adds. It calls a label `job` of a metric `exported_job`, because it has one of its own. */
const TARGET_LABELS = ['instance', 'job', 'exported_job']
/** Alarms of docs/operating.md without a bound that fits every installation. They are on the dashboard. */
const WITHOUT_BOUND = ['domaindex_connections', 'domaindex_requests_pending', 'domaindex_unparsed_bytes']

type Rule = { alert: string; expr: string; annotations: { summary: string; runbook: string } }
type Panel = { title: string; gridPos: Record<'h' | 'w' | 'x' | 'y', number>; targets?: { expr: string }[] }

const alerts = parse(readText(`${FOLDER}/alerts.yml`)).groups.flatMap(({ rules }: { rules: Rule[] }) => rules) as Rule[]
const { panels } = JSON.parse(readText(`${FOLDER}/dashboard.json`)) as { panels: Panel[] }
const alertTexts = alerts.map(({ expr }) => expr)
const panelTexts = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

const metricsOf = (text: string): string[] => [...text.matchAll(/\bdomaindex_\w+/g)].map(([name]) => name)
/** The name under which a metric is exported, without what a histogram adds to it. */
const exportedName = (name: string): string => name.replace(/^(domaindex_request_duration_seconds)_\w+$/, '$1')

/** The labels of each metric, by the documents. */
const documentedLabels = new Map(
  ['operating.md', 'crawling.md'].flatMap((page) =>
    readPage(page)
      .split('\n')
      .flatMap((line) => [...line.matchAll(/`(domaindex_\w+)(?:\{(\w+)=[^`]*)?`(?: by ((?:`\w+`(?:, )?)+))?/g)])
      .map(([, name, label, list = '']) => [exportedName(name!), label === undefined ? codes(list) : [label]] as const)
      .filter(([, labels]) => labels.length > 0),
  ),
)

/** The labels that an expression uses, with the metric before them. */
function labelsIn(expression: string): [metric: string, label: string][] {
  return [...expression.matchAll(/(domaindex_\w+)\{([^}]*)\}/g)].flatMap(([, metric, selectors = '']) =>
    [...selectors.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]): [string, string] => [
      exportedName(metric!),
      label!,
    ]),
  )
}

suite('deploy/monitoring', () => {
  test('a server and a crawler export the metrics that alerts and dashboard use, and no other', async (t) => {
    const { serve } = serverOf(t)
    const server = await serve()
    await until(() => server.log().some(({ msg }) => msg === 'admin listener started'))
    const crawl = (await processWorld(t)).start('crawl', '--loop')
    const found = await until(() => crawl.output().find(({ admin }) => admin !== undefined))
    const ports = [server.log().find(({ msg }) => msg === 'admin listener started')!.port, found.admin]
    const texts = await Promise.all(ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()))
    const exported = texts.flatMap((text) => [...text.matchAll(/^# TYPE (domaindex_\w+) /gm)].map(([, name]) => name!))
    crawl.child.kill('SIGKILL')
    const shown = new Set(panelTexts.flatMap(metricsOf).map(exportedName))
    assert.deepEqual([...shown].toSorted(), [...new Set(exported)].toSorted())
    for (const expression of alertTexts)
      for (const name of metricsOf(expression)) assert.ok(exported.includes(exportedName(name)), name)
    for (const [, name, labels] of texts.join('\n').matchAll(/^(domaindex_\w+)\{(.*)\} /gm)) {
      const known = [...(documentedLabels.get(exportedName(name!)) ?? []), 'le', 'endpoint', 'status', 'quantile']
      for (const [, label] of labels!.matchAll(/(\w+)="/g)) assert.ok(known.includes(label!), `${name} ${label}`)
    }
  })

  test('every label of an expression is one of its metric', () => {
    const used = [...alertTexts, ...panelTexts].flatMap(labelsIn)
    assert.ok(used.length > 10)
    for (const [metric, label] of used)
      assert.ok([...(documentedLabels.get(metric) ?? []), ...TARGET_LABELS].includes(label), `${metric} ${label}`)
  })

  test('every alarm of the documents has an alert', () => {
    const rows = [
      ...tableOf(readPage('operating.md'), 'metric').map(([metric]) => metric!),
      ...tableOf(readPage('crawling.md').split('Alarms worth setting:')[1]!, 'metric').map(([metric]) => metric!),
    ]
    const inAlerts = new Set(alertTexts.flatMap(metricsOf))
    const without = rows.flatMap(metricsOf).filter((name) => !inAlerts.has(name))
    assert.ok(rows.length > 10)
    assert.deepEqual(without.toSorted(), WITHOUT_BOUND)
  })

  test('every alert has a name of its own, a summary, and a section of docs/incidents.md', () => {
    assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length)
    const headings = [...readPage('incidents.md').matchAll(/^## (.*)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    for (const { alert, annotations } of alerts) {
      assert.ok(annotations.summary.length > 10, alert)
      const [page, heading] = annotations.runbook.split('#')
      assert.equal(page, 'docs/incidents.md')
      assert.ok(headings.includes(heading!), annotations.runbook)
    }
  })

  test('Prometheus scrapes the default admin listeners, under the job names of the alerts', () => {
    const { scrape_configs: scraped, rule_files: files } = parse(readText(`${FOLDER}/prometheus.yml`))
    const targets = scraped.flatMap(({ static_configs: list }: { static_configs: { targets: string[] }[] }) =>
      list.flatMap((each) => each.targets),
    )
    assert.deepEqual(targets, [SETTINGS.admin.defaultText, SETTINGS.crawlAdmin.defaultText])
    assert.deepEqual(files, ['alerts.yml'])
    const jobs = scraped.map(({ job_name: name }: { job_name: string }) => name)
    for (const [, job] of alertTexts.join('\n').matchAll(/\bup\{job="([^"]*)"/g)) assert.ok(jobs.includes(job), job)
  })

  test('no two panels of the dashboard overlap', () => {
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    )
    assert.equal(new Set(cells).size, cells.length)
    assert.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24))
  })

  test('promtool finds no mistake, and the alerts fire when they should', (t) => {
    for (const args of [
      ['check', 'rules', `${FOLDER}/alerts.yml`],
      ['check', 'config', `${FOLDER}/prometheus.yml`],
      ['test', 'rules', `${FOLDER}/alerts.test.yml`],
    ]) {
      const result = runIfInstalled('promtool', args)
      if (result === null) return t.skip('promtool is not installed')
      assert.equal(result.status, 0, result.output)
    }
  })
})
