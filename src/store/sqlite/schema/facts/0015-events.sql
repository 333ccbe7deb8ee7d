-- Events: changes that watches match (src/watch/watch-event.ts), written by the transaction that writes the change. This
-- migration does not expand: an older release would write changes without their events.

-- An event. A number is never given twice. watch: null for an event about the account. name: null for a certificate
-- that a log published. time: when it was written. observed_at: when the change was observed; null for a name of a
-- list. differences: JSON.
create table event (
  number integer primary key autoincrement,
  account integer not null,
  watch integer,
  name text,
  time integer not null,
  observed_at integer,
  differences text not null
) strict;

create index event_account on event (account, number);
create index event_name on event (name) where name is not null;

-- How many events an account got on its last day (in days since 1970) with one.
create table event_count (
  account integer primary key,
  day integer not null,
  events integer not null
) strict;
