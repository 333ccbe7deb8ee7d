-- The crawl states, the facts, and the rows that names share.
--
-- Every table that Citus would distribute has `part`, 0 to 255, as the first column of its key. The rows of a name
-- have the part of its slot (slot >> 8). Rows of redirect and redirect_count have the part of the target's slot. Rows
-- of presence and address_count have the first byte of the SHA-256 of the address. Text keys are compared byte by
-- byte, whatever the collation of the database.

-- Ids of names; a process takes a thousand at a time. 0 is a tombstone.
create sequence name_id minvalue 1000 increment by 1000;

-- The crawl state of a name: all that an unchanged observation reads and writes, in the order of the slots.
-- id: the id of the name's rows in the other tables; null before the first fact, 0 for a tombstone.
-- clock: the newest of the nine clocks. other_clocks: the clocks that differ from it, five bytes each (number of the
-- observed part, seconds); null for none.
-- Half of each page stays free. A crawl writes all rows of a page anew; if the new versions fit beside the old ones,
-- PostgreSQL writes no index, and the table does not grow.
create table crawl_state (
  part smallint not null,
  slot integer not null,
  name text collate "C" not null,
  id bigint,
  version bigint not null,
  clock bigint not null,
  other_clocks bytea,
  dns_fingerprint bigint not null,
  web_fingerprint bigint not null,
  primary key (part, slot, name)
) with (fillfactor = 50);

-- The current facts, written only if one changes. flags: see FACTS_FLAG in columns.ts.
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
  social_networks text,
  social_accounts text,
  text_digest text,
  addresses bytea[],
  states text not null,
  primary key (part, id)
);

-- A superseded DNS state. If an SOA differs from the one at base_first_seen in its serial alone, the row holds the
-- serial alone.
create table dns_state (
  part smallint not null,
  type smallint not null,
  id bigint not null,
  first_seen bigint not null,
  last_confirmed bigint not null,
  serial bigint,
  base_first_seen bigint,
  records text,
  primary key (part, id, type, first_seen)
);

-- The time at which a name was first seen on an address.
create table address_first_seen (
  part smallint not null,
  id bigint not null,
  first_seen bigint not null,
  address bytea not null,
  primary key (part, id, address)
);

-- The names that are on an address now. since: as the API answers it.
create table presence (
  part smallint not null,
  address bytea not null,
  name text collate "C" not null,
  since text collate "C" not null,
  primary key (part, address, name)
);

-- The number of names on each address.
create table address_count (
  part smallint not null,
  address bytea not null,
  names bigint not null,
  primary key (part, address)
) with (fillfactor = 60);

-- The names that redirect to a domain.
create table redirect (
  part smallint not null,
  target text collate "C" not null,
  source text collate "C" not null,
  primary key (part, target, source)
);

-- The number of names that redirect to each domain.
create table redirect_count (
  part smallint not null,
  target text collate "C" not null,
  sources bigint not null,
  primary key (part, target)
) with (fillfactor = 60);

-- The terms of a start page: pairs of 32-bit numbers (hash, count), ascending by hash.
create table pending_page (
  part smallint not null,
  id bigint not null,
  digest text not null,
  terms bytea not null,
  primary key (part, id)
);

-- Values that describe the store as a whole.
create table metadata (
  name text collate "C" primary key,
  value text not null
);
