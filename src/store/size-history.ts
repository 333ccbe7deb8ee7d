/** The sizes of an installation by day, which the store keeps, and the growth that follows from them. */

import { addDays, type Day, numberOfDay } from '../values/time.ts'
import type { StoreMaintenance } from './port/store.ts'

/** What takes space: the store with its ledger, finished files, the folder of registrations, and the inbox. */
export const SIZED_PLACES = ['store', 'files', 'zones', 'inbox'] as const
export type SizedPlace = (typeof SIZED_PLACES)[number]

/** Bytes of each place. */
export type PlaceSizes = Readonly<Record<SizedPlace, number>>
export type SizesOfDay = PlaceSizes & { day: Day }

const JOB = 'sizes-by-day'
const KEPT_DAYS = 400
/** The growth is that of this time, and unknown before there are sizes of so many days. */
const GROWTH_DAYS = 30
const MIN_GROWTH_DAYS = 7

/** Oldest first. */
export async function readSizeHistory(maintenance: Pick<StoreMaintenance, 'progress'>): Promise<SizesOfDay[]> {
  const text = await maintenance.progress(JOB)
  return text === null ? [] : (JSON.parse(text) as SizesOfDay[])
}

/** Keeps the sizes of a day. They replace those that were kept of the same day. */
export async function recordSizes(
  maintenance: Pick<StoreMaintenance, 'progress' | 'saveProgress'>,
  sizes: SizesOfDay,
): Promise<void> {
  const earlier = (await readSizeHistory(maintenance)).filter(({ day }) => day < sizes.day)
  await maintenance.saveProgress(JOB, JSON.stringify([...earlier, sizes].slice(-KEPT_DAYS)))
}

/**
 * Bytes per day of some places together: the slope of the least-squares line through the sizes of the last 30 days.
 * Returns null if sizes of fewer than seven of these days are known.
 */
export function growthPerDay(history: readonly SizesOfDay[], places: readonly SizedPlace[]): number | null {
  const last = history.at(-1)?.day
  const recent = last === undefined ? [] : history.filter(({ day }) => day > addDays(last, -GROWTH_DAYS))
  if (recent.length < MIN_GROWTH_DAYS) return null
  const points = recent.map((sizes) => {
    return { x: numberOfDay(sizes.day), y: places.reduce((sum, place) => sum + sizes[place], 0) }
  })
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))]
  const covariance = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0)
  return covariance / points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
}
