/** Judges source files by the walls of a house: what is wrong with them, a sentence each. */

import { circles } from './circles.ts'
import type { Import, Source } from './source.ts'

type Room = { room: string; pure?: true; awaits?: true; package?: string; why: string }
type Door = { room: string; to: string[]; why: string }
type Exception = { room: string; module: string; names: string[] }
type Keeper = { modules: string[]; rooms: string[]; except: Exception[]; why: string }

export type House = {
  floors: Room[][]
  doors: Door[]
  keepers: Keeper[]
  impure: { modules: string[]; names: string[]; uses: Record<string, string[]> }
  refusedNames: string[]
  fileLines: number
  functionLines: number
}

type Place = Room & { floor: number }

export function judge(sources: Source[], house: House): string[] {
  const places = house.floors.flatMap((rooms, floor) => rooms.map((room) => ({ ...room, floor })))
  const complaints = sources.flatMap((source) => {
    const own = placeOf(source.path, places)
    if (own === null) return [`${source.path} stands in no room`]
    return [
      ...source.imports.flatMap((each) => judgeImport(source.path, own, withPath(each, places), places, house)),
      ...judgeUses(source, own, house),
      ...judgeShape(source, house),
    ]
  })
  return [...complaints, ...circles(sources).map((circle) => `${circle.join(' -> ')} is a circle`)]
}

/** The longest room that a path begins with. */
function placeOf(path: string, places: Place[]): Place | null {
  const found = places.filter(({ room }) => path.startsWith(room)).sort((a, b) => b.room.length - a.room.length)
  return found[0] ?? null
}

/** A package of our own is a room like another. */
function withPath(each: Import, places: Place[]): Import {
  const place = places.find((room) => room.package !== undefined && room.package === each.target)
  return place === undefined ? each : { ...each, target: place.room, isOurs: true }
}

function judgeImport(path: string, own: Place, taken: Import, places: Place[], house: House): string[] {
  if (!taken.isOurs) return [...judgeModule(path, own, taken, house), ...judgeImpureModule(path, own, taken, house)]
  const other = placeOf(taken.target, places)
  const says = `${path} imports ${taken.target}, which`
  if (other === null) return /\.tsx?$/.test(taken.target) ? [`${says} stands in no room`] : []
  if (other.room === own.room) return []
  const complaints: string[] = []
  if (other.floor > own.floor) complaints.push(`${says} stands above it`)
  if (other.floor === own.floor) complaints.push(`${says} stands on the same floor`)
  for (const door of house.doors.filter(({ room }) => room === other.room)) {
    const to = door.to.length === 0 ? 'nobody' : `${door.to.join(', ')} only`
    if (!door.to.includes(own.room)) complaints.push(`${says} opens to ${to}: ${door.why}`)
  }
  if (own.pure && !other.pure && taken.names.length > 0 && other.floor < own.floor) {
    complaints.push(`${path} is pure and takes ${taken.names.join(', ')} from ${taken.target}, which is not`)
  }
  return complaints
}

function judgeModule(path: string, own: Place, { target, names }: Import, { keepers }: House): string[] {
  return keepers
    .filter(({ modules, rooms }) => modules.includes(target) && !rooms.includes(own.room))
    .flatMap(({ except, why }) => {
      const granted = except.filter(({ room, module }) => room === own.room && module === target)
      const refused = names.filter((name) => !granted.some((each) => each.names.includes(name)))
      return refused.map((name) => `${path} takes ${name} from ${target}: ${why}`)
    })
}

function judgeImpureModule(path: string, own: Place, { target, names }: Import, { impure }: House): string[] {
  if (!own.pure) return []
  const refused = names.filter((name) => impure.modules.includes(target) || impure.names.includes(name))
  return refused.map((name) => `${path} is pure and takes ${name} from ${target}`)
}

function judgeUses({ path, uses }: Source, own: Place, { impure }: House): string[] {
  if (!own.pure) return []
  const refused = Object.values(impure.uses).flat()
  return uses
    .filter(({ what }) => refused.includes(what) && !(what === 'await' && own.awaits))
    .map(({ what, line }) => `${path}:${line} is pure and uses ${what}`)
}

function judgeShape({ path, lines, opening, functions }: Source, house: House): string[] {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const complaints = functions
    .filter((each) => each.lines > house.functionLines)
    .map((each) => `${path}:${each.line} has a function of ${each.lines} lines, ${house.functionLines} are allowed`)
  if (house.refusedNames.includes(name)) complaints.push(`${path}: no file is called ${name}`)
  if (!/^\S+\s.*\.(\s|$)/s.test(opening)) complaints.push(`${path} does not open with a sentence that says what it is`)
  if (lines > house.fileLines) complaints.push(`${path} has ${lines} lines, ${house.fileLines} are allowed`)
  return complaints
}
