-- The narrow row of a name: all that an unchanged observation reads and writes, in the order of the slots.
-- id: its rows in facts, state, ever and page; null before the first fact, 0 once the name was forgotten (a tombstone).
-- clock: the newest of the nine clocks; late: the clocks that differ from it, five bytes each (part, seconds), null for none.
create table visit (
  slot integer not null,
  name text not null,
  id integer,
  version integer not null,
  clock integer not null,
  late blob,
  dns_print integer not null,
  web_print integer not null,
  primary key (slot, name)
) strict, without rowid;

-- The current facts, written only when one changes. flags: see facts columns in columns.ts.
-- addresses: JSON array of packed addresses in hexadecimal, in the order of answers.
-- states: JSON object, record type -> [first_seen, count, base, records].
create table facts (
  id integer primary key,
  name text not null,
  status text,
  ip text,
  flags integer not null,
  ssl text,
  redirects_to text,
  networks text,
  accounts text,
  digest text,
  addresses text,
  states text not null
) strict;

-- A superseded state. An SOA that differs from the one at base in its serial alone keeps the serial alone.
create table state (
  id integer not null,
  type integer not null,
  first_seen integer not null,
  last_confirmed integer not null,
  records text,
  serial integer,
  base integer,
  primary key (id, type, first_seen)
) strict, without rowid;

-- The first time a name was seen on an address.
create table ever (
  id integer not null,
  address blob not null,
  since integer not null,
  primary key (id, address)
) strict, without rowid;

-- Who is on an address now, and how many they are. since: as it is answered.
create table presence (
  address blob not null,
  name text not null,
  since text not null,
  primary key (address, name)
) strict, without rowid;

create table address (
  address blob primary key,
  names integer not null
) strict, without rowid;

-- Who redirects to a domain, and how many they are.
create table redirect (
  target text not null,
  source text not null,
  primary key (target, source)
) strict, without rowid;

create table target (
  target text primary key,
  sources integer not null
) strict, without rowid;

-- The terms of a start page: pairs of 32-bit numbers (hash, count), ascending by hash.
create table page (
  id integer primary key,
  digest text not null,
  terms blob not null
) strict;

-- What kind of store this is.
create table mark (
  name text primary key,
  value text not null
) strict, without rowid;
