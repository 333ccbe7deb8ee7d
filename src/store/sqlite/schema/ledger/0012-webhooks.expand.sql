-- Webhooks: where the events of an account are sent (src/store/port/watch/webhooks.ts). watches: the IDs of watches,
-- separated by commas; null for all. sealed: the key that signs, encrypted by the secret of the installation with the
-- number secret_number. seen: the number of the last event that was tried once or passed over. failures: failed attempts
-- since the last success. paused_until: nothing is sent before. disabled: since when nothing is sent. tests, tested: the
-- number of the last test that was requested, and of the one with test_result. due: when a process looks at the webhook
-- again; null: at the next event of the account. claimed_by: the process that sends until claimed_until.
create table webhook (
  id integer primary key autoincrement,
  account integer not null,
  url text not null,
  watches text,
  secret_number integer not null,
  sealed blob not null,
  created integer not null,
  seen integer not null,
  failures integer not null default 0,
  failing_since integer,
  last_success integer,
  last_error text,
  paused_until integer not null default 0,
  disabled integer,
  tests integer not null default 0,
  tested integer not null default 0,
  test_result text,
  due integer,
  claimed_by text,
  claimed_until integer not null default 0
) strict;

create index webhook_account on webhook (account);
create index webhook_due on webhook (due);

-- Events whose first attempt failed. event_time: when the event was written. since: when its three days of retries began.
-- tried: the last attempt. due: the next one; null: there is none any more.
create table delivery (
  webhook integer not null,
  event integer not null,
  event_time integer not null,
  since integer not null,
  attempts integer not null,
  tried integer,
  due integer,
  error text not null,
  primary key (webhook, event)
) strict, without rowid;

create index delivery_due on delivery (webhook, due);
create index delivery_time on delivery (event_time);

-- Counts of attempts since the store was created, for metrics.
create table delivery_count (
  outcome text primary key,
  count integer not null
) strict, without rowid;
