-- The crawl state of a name: all that an unchanged observation reads and writes, in the order of the slots.
-- id: the id of the name's rows in the other tables; null before the first fact, 0 for a tombstone.
-- clock: the newest of the nine clocks. other_clocks: the clocks that differ from it, five bytes each (number of the
-- observed part, seconds); null for none.
create table crawl_state (
  slot integer not null,
  name text not null,
  id integer,
  version integer not null,
  clock integer not null,
  other_clocks blob,
  dns_fingerprint integer not null,
  web_fingerprint integer not null,
  primary key (slot, name)
) strict, without rowid;

-- The current facts, written only if one changes. flags: see FACTS_FLAG in columns.ts.
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
  social_networks text,
  social_accounts text,
  text_digest text,
  addresses text,
  states text not null
) strict;

-- A superseded DNS state. If an SOA differs from the one at base_first_seen in its serial alone, the row holds the
-- serial alone.
create table dns_state (
  id integer not null,
  type integer not null,
  first_seen integer not null,
  last_confirmed integer not null,
  records text,
  serial integer,
  base_first_seen integer,
  primary key (id, type, first_seen)
) strict, without rowid;

-- The time at which a name was first seen on an address.
create table address_first_seen (
  id integer not null,
  address blob not null,
  first_seen integer not null,
  primary key (id, address)
) strict, without rowid;

-- The names that are on an address now. since: as the API answers it.
create table presence (
  address blob not null,
  name text not null,
  since text not null,
  primary key (address, name)
) strict, without rowid;

-- The number of names on each address.
create table address_count (
  address blob primary key,
  names integer not null
) strict, without rowid;

-- The names that redirect to a domain.
create table redirect (
  target text not null,
  source text not null,
  primary key (target, source)
) strict, without rowid;

-- The number of names that redirect to each domain.
create table redirect_count (
  target text primary key,
  sources integer not null
) strict, without rowid;

-- The terms of a start page: pairs of 32-bit numbers (hash, count), ascending by hash.
create table pending_page (
  id integer primary key,
  digest text not null,
  terms blob not null
) strict;

-- Values that describe the store as a whole.
create table metadata (
  name text primary key,
  value text not null
) strict, without rowid;
