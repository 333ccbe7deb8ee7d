-- An account. Its number is never given again, so that a late write for a deleted account reaches no other account.
create table account (
  id integer primary key autoincrement,
  email text not null collate nocase unique,
  role text not null,
  plan text not null,
  created integer not null
) strict;

-- Subscription periods, which never overlap within an account. Days as YYYY-MM-DD, both included; last is null while
-- the period is open.
create table period (
  account integer not null,
  first text not null,
  last text,
  plan text not null,
  primary key (account, first)
) strict, without rowid;

create table addon (
  account integer not null,
  addon text not null,
  primary key (account, addon)
) strict, without rowid;

-- Only the SHA-256 of a token is stored. Instants are whole Unix seconds.
create table token (
  id integer primary key autoincrement,
  account integer not null,
  hash blob not null unique,
  name text not null,
  hint text not null,
  created integer not null,
  expires integer,
  last_used integer,
  revoked integer
) strict;

create index token_account on token (account);

-- The units of an account's budget of one UTC day that are spent.
create table budget (
  account integer not null,
  day text not null,
  used integer not null,
  primary key (account, day)
) strict, without rowid;

-- Units that a process has taken and has neither spent nor returned.
create table token_lease (
  account integer not null,
  day text not null,
  holder text not null,
  units integer not null,
  primary key (account, day, holder)
) strict, without rowid;

-- The processes that take units, each with the time of its last heartbeat.
create table lease_holder (
  holder text primary key,
  heartbeat_at integer not null
) strict, without rowid;

-- Calls by token, endpoint and day.
create table usage (
  account integer not null,
  day text not null,
  endpoint text not null,
  token integer not null,
  calls integer not null,
  primary key (account, day, endpoint, token)
) strict, without rowid;

-- The secrets that the installation generated; the one in force is not replaced yet.
create table secret (
  number integer primary key,
  bytes blob not null,
  replaced_at integer
) strict;
