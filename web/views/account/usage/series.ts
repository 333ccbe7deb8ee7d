/** The calls of an account by day, grouped by endpoint or by token. */

export type UsageGrouping = 'endpoints' | 'tokens'

export type UsageBody = {
  limit: number | null
  used: number
  remaining: number | null
  reset: string
  days: { day: string; calls: number; endpoints: Record<string, number>; tokens: Record<string, number> }[]
  /** The names of the tokens by ID. */
  tokens: Record<string, string>
}

/** `values`: one for each day. */
export type UsageSeries = { name: string; values: number[]; total: number }

/** The ID of calls that the web page made. */
const WEB_PAGE_TOKEN = '0'
/** Further series are summed up, because more colours cannot be told apart. */
const MAX_SERIES = 6

/** The series with the most calls first. */
export function usageSeries({ days, tokens }: UsageBody, grouping: UsageGrouping): UsageSeries[] {
  const keys = [...new Set(days.flatMap((day) => Object.keys(day[grouping])))]
  const nameOf = (key: string): string =>
    grouping === 'endpoints' ? key : key === WEB_PAGE_TOKEN ? 'Web page' : (tokens[key] ?? `Token ${key}`)
  const all = keys
    .map((key) =>
      seriesOf(
        nameOf(key),
        days.map((day) => day[grouping][key] ?? 0),
      ),
    )
    .toSorted((one, other) => other.total - one.total)
  if (all.length <= MAX_SERIES) return all
  const rest = all.slice(MAX_SERIES - 1)
  const summed = days.map((_, index) => rest.reduce((sum, { values }) => sum + values[index]!, 0))
  return [...all.slice(0, MAX_SERIES - 1), seriesOf('Others', summed)]
}

function seriesOf(name: string, values: number[]): UsageSeries {
  return { name, values, total: values.reduce((sum, value) => sum + value, 0) }
}
