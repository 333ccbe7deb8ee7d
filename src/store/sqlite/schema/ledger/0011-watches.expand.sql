-- Watches: of which changes an account wants to hear (src/watch/watch.ts). threshold: only of the kind text, in percent.
-- types: the differences that match, separated by commas; null for all. muted: since when a watch matches nothing; null
-- if it does. version: the number of the change that wrote the row.
create table watch (
  id integer primary key autoincrement,
  account integer not null,
  kind text not null,
  value text not null,
  threshold integer,
  types text,
  created integer not null,
  muted integer,
  version integer not null
) strict;

create unique index watch_value on watch (account, kind, value);
create index watch_change on watch (version);

-- The newest removed watches by the change that removed them, so that writers of observations learn of them.
create table watch_removal (
  version integer not null,
  watch integer not null,
  primary key (version, watch)
) strict, without rowid;

-- One row: the number of the last change of the watches.
create table watch_version (
  version integer not null
) strict;
insert into watch_version (version) values (0);
