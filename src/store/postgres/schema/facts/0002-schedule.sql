-- When a name is due for its next visit (0: as soon as may be), and how often in a row it was nxdomain or servfail.
alter table visit add column due bigint not null default 0;
alter table visit add column failures smallint not null default 0;

-- Who has which range of slots: a lease stands until `until`, and only with the newest fence. count: JSON, of the last sweep.
create table lease (
  slots smallint primary key,
  holder text collate "C",
  fence bigint not null,
  until bigint,
  next bigint not null,
  swept bigint,
  count text
) with (fillfactor = 50);

insert into lease (slots, fence, next) select slots, 0, 0 from generate_series(0, 255) slots;

-- Crawlers that were heard of, each with its report (JSON).
create table crawler (
  holder text collate "C" primary key,
  heard bigint not null,
  report text not null
);

-- Visits that ended in an hour, by the kind of turn that they had.
create table outcome (
  hour bigint not null,
  kind text collate "C" not null,
  visits bigint not null,
  servfail bigint not null,
  nxdomain bigint not null,
  none bigint not null,
  primary key (hour, kind)
);
