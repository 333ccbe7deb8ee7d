-- When a name is due for its next probe (0: at once), and how often in a row it was nxdomain or servfail.
alter table crawl_state add column due integer not null default 0;
alter table crawl_state add column failures integer not null default 0;

-- The lease of each range of slots. A lease is valid until expires_at, and only with the newest fence.
-- counts: JSON, of the last sweep.
create table slot_lease (
  slot_range integer primary key,
  holder text,
  fence integer not null,
  expires_at integer,
  next_sweep integer not null,
  last_sweep integer,
  counts text
) strict;

insert into slot_lease (slot_range, fence, next_sweep)
with recursive range(number) as (select 0 union all select number + 1 from range where number < 255)
select number, 0, 0 from range;

-- The crawlers that sent a heartbeat, each with its report (JSON).
create table crawler (
  holder text primary key,
  heartbeat_at integer not null,
  report text not null
) strict, without rowid;

-- Probes that ended in an hour, by what was known of the names before.
create table probe_outcome (
  hour integer not null,
  kind text not null,
  probes integer not null,
  servfail integer not null,
  nxdomain integer not null,
  no_website integer not null,
  primary key (hour, kind)
) strict, without rowid;
