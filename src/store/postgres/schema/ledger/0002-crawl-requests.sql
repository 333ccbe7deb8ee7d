-- Requests to probe a name soon, by the range of its slot.
create table crawl_request (
  kind text collate "C" not null,
  slot_range smallint not null,
  name text collate "C" not null,
  primary key (kind, slot_range, name)
);

-- The number of new names that an account requested by lookups on a day.
create table lookup_request_count (
  account bigint not null,
  day text collate "C" not null,
  requests bigint not null,
  primary key (account, day)
);
