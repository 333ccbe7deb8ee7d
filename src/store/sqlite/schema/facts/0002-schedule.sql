-- When a name is due for its next visit (0: as soon as may be), and how often in a row it was nxdomain or servfail.
alter table visit add column due integer not null default 0;
alter table visit add column failures integer not null default 0;

-- Who has which range of slots: a lease stands until `until`, and only with the newest fence. count: JSON, of the last sweep.
create table lease (
  slots integer primary key,
  holder text,
  fence integer not null,
  until integer,
  next integer not null,
  swept integer,
  count text
) strict;

insert into lease (slots, fence, next)
with recursive range(slots) as (select 0 union all select slots + 1 from range where slots < 255)
select slots, 0, 0 from range;

-- Crawlers that were heard of, each with its report (JSON).
create table crawler (
  holder text primary key,
  heard integer not null,
  report text not null
) strict, without rowid;

-- Visits that ended in an hour, by the kind of turn that they had.
create table outcome (
  hour integer not null,
  kind text not null,
  visits integer not null,
  servfail integer not null,
  nxdomain integer not null,
  none integer not null,
  primary key (hour, kind)
) strict, without rowid;
