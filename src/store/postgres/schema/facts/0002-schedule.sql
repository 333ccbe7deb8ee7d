-- When a name is due for its next probe (0: at once), and how often in a row it was nxdomain or servfail.
alter table crawl_state add column due bigint not null default 0;
alter table crawl_state add column failures smallint not null default 0;

-- The lease of each range of slots. A lease is valid until expires_at, and only with the newest fence.
-- counts: JSON, of the last sweep.
create table slot_lease (
  slot_range smallint primary key,
  holder text collate "C",
  fence bigint not null,
  expires_at bigint,
  next_sweep bigint not null,
  last_sweep bigint,
  counts text
) with (fillfactor = 50);

insert into slot_lease (slot_range, fence, next_sweep) select slot_range, 0, 0 from generate_series(0, 255) slot_range;

-- The crawlers that sent a heartbeat, each with its report (JSON).
create table crawler (
  holder text collate "C" primary key,
  heartbeat_at bigint not null,
  report text not null
);

-- Probes that ended in an hour, by what was known of the names before.
create table probe_outcome (
  hour bigint not null,
  kind text collate "C" not null,
  probes bigint not null,
  servfail bigint not null,
  nxdomain bigint not null,
  no_website bigint not null,
  primary key (hour, kind)
);
