/** The yardstick's tables: the same facts, rows and counters in a plain PostgreSQL schema. */

import { createHash } from 'node:crypto'
import { expectedFactsAt } from '../world/expected.ts'
import type { World } from '../world/world.ts'

const NAME = 'text collate "C"'

export const TABLES = `
  create table account (id int, plan text not null, active boolean not null);
  create table token (hash bytea not null, account int not null);
  create table domain (
    name ${NAME} not null, has_website boolean not null, redirect_to_https boolean not null, redirect_to_www boolean not null,
    redirects_to ${NAME}, only_with_www boolean not null, ssl text not null, ip text,
    social_networks json not null, social_accounts json not null, addresses inet[] not null);
  create table presence (address inet not null, name ${NAME} not null, since timestamp not null);
  create table redirect (target ${NAME} not null, source ${NAME} not null);
  create table address (address inet, names int not null);
  create table target (target ${NAME}, sources int not null)`

export const INDEXES = `
  insert into address select address, count(*) from presence group by 1;
  insert into target select target, count(*) from redirect group by 1;
  alter table account add primary key (id);
  alter table token add primary key (hash);
  alter table domain add primary key (name);
  create unique index on presence (address, name) include (since);
  create unique index on redirect (target, source);
  alter table address add primary key (address);
  alter table target add primary key (target)`

/** The rows of each table, in the text format of COPY. */
export const tableContents = (world: World, tokens: readonly string[]): { table: string; rows: Iterable<string> }[] => [
  { table: 'account', rows: tokens.map((_, at) => `${at}\tpremium\tt\n`) },
  {
    table: 'token',
    rows: tokens.map((token, at) => `\\\\x${createHash('sha256').update(token).digest('hex')}\t${at}\n`),
  },
  { table: 'domain', rows: rowChunks(world, domainRow) },
  { table: 'presence', rows: rowChunks(world, presenceRows) },
  { table: 'redirect', rows: rowChunks(world, redirectRow) },
]

type Row = ReturnType<typeof expectedFactsAt>

function* rowChunks(world: World, write: (row: Row) => string): Generator<string> {
  let text = ''
  for (let index = 0; index < world.names; index++) {
    text += write(expectedFactsAt(world, index))
    if (text.length < 1 << 16) continue
    yield text
    text = ''
  }
  yield text
}

function domainRow({ domain, result, addresses, target }: Row): string {
  const yes = (key: string): string => (result[key] === 'yes' ? 't' : 'f')
  const fields = [
    domain,
    yes('has_website'),
    yes('redirect_to_https'),
    yes('redirect_to_www'),
    target ?? '\\N',
    yes('only_with_www'),
    result.ssl,
    result.ip,
    JSON.stringify(result.social_networks),
    JSON.stringify(result.social_accounts),
    `{${addresses.join(',')}}`,
  ]
  return `${fields.join('\t')}\n`
}

function presenceRows({ domain, addresses, since }: Row): string {
  return addresses.map((address) => `${address}\t${domain}\t${since}\n`).join('')
}

function redirectRow({ domain, target }: Row): string {
  return target === null ? '' : `${target}\t${domain}\n`
}
