-- Requests to probe a name soon, by the range of its slot.
create table crawl_request (
  kind text not null,
  slot_range integer not null,
  name text not null,
  primary key (kind, slot_range, name)
) strict, without rowid;

-- The number of new names that an account requested by lookups on a day.
create table lookup_request_count (
  account integer not null,
  day text not null,
  requests integer not null,
  primary key (account, day)
) strict, without rowid;
