-- Every table that would be spread over machines begins its key with part, 0 to 255: of a name's rows that of its slot
-- (slot >> 8), of redirect and target that of the target's slot, of presence and address the first byte of the SHA-256 of
-- the address. Text keys are compared byte by byte, whatever the database's collation.

-- Ids of names, taken a thousand at a time; 0 is a tombstone.
create sequence name_id minvalue 1000 increment by 1000;

-- The narrow row of a name: all that an unchanged observation reads and writes, in the order of the slots.
-- id: its rows in facts, state, ever and page; null before the first fact, 0 once the name was forgotten (a tombstone).
-- clock: the newest of the nine clocks; late: the clocks that differ from it, five bytes each (part, seconds), null for none.
-- Half of each page is left free: a crawl writes all rows of a page anew, and where the new versions fit beside the old ones no
-- index is written, and the table does not grow.
create table visit (
  part smallint not null,
  slot integer not null,
  name text collate "C" not null,
  id bigint,
  version bigint not null,
  clock bigint not null,
  late bytea,
  dns_print bigint not null,
  web_print bigint not null,
  primary key (part, slot, name)
) with (fillfactor = 50);

-- The current facts, written only when one changes. flags: see facts columns in columns.ts.
-- addresses: packed, in the order of answers. states: JSON object, record type -> [first_seen, count, base, records].
create table facts (
  part smallint not null,
  id bigint not null,
  name text collate "C" not null,
  status text,
  ip text,
  flags integer not null,
  ssl text,
  redirects_to text collate "C",
  networks text,
  accounts text,
  digest text,
  addresses bytea[],
  states text not null,
  primary key (part, id)
);

-- A superseded state. An SOA that differs from the one at base in its serial alone keeps the serial alone.
create table state (
  part smallint not null,
  type smallint not null,
  id bigint not null,
  first_seen bigint not null,
  last_confirmed bigint not null,
  serial bigint,
  base bigint,
  records text,
  primary key (part, id, type, first_seen)
);

-- The first time a name was seen on an address.
create table ever (
  part smallint not null,
  id bigint not null,
  since bigint not null,
  address bytea not null,
  primary key (part, id, address)
);

-- Who is on an address now, and how many they are. since: as it is answered.
create table presence (
  part smallint not null,
  address bytea not null,
  name text collate "C" not null,
  since text collate "C" not null,
  primary key (part, address, name)
);

create table address (
  part smallint not null,
  address bytea not null,
  names bigint not null,
  primary key (part, address)
) with (fillfactor = 60);

-- Who redirects to a domain, and how many they are.
create table redirect (
  part smallint not null,
  target text collate "C" not null,
  source text collate "C" not null,
  primary key (part, target, source)
);

create table target (
  part smallint not null,
  target text collate "C" not null,
  sources bigint not null,
  primary key (part, target)
) with (fillfactor = 60);

-- The terms of a start page: pairs of 32-bit numbers (hash, count), ascending by hash.
create table page (
  part smallint not null,
  id bigint not null,
  digest text not null,
  terms bytea not null,
  primary key (part, id)
);

-- What kind of store this is.
create table mark (
  name text collate "C" primary key,
  value text not null
);
