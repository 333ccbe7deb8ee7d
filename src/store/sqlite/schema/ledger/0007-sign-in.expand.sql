-- The passwords of accounts, each as a hash in the PHC string format of Argon2. An account without a row has no password.
create table account_password (
  account integer primary key,
  hash text not null,
  changed integer not null
) strict, without rowid;

-- The sessions of the web page. Only the SHA-256 of the secret in the cookie is stored. `browser` and `address` tell the
-- owner which session it is.
create table session (
  id integer primary key autoincrement,
  account integer not null,
  hash blob not null unique,
  created integer not null,
  last_used integer not null,
  browser text not null,
  address text not null
) strict;

create index session_account on session (account);

-- Links that are valid once: for the first sign-in, for a new account, and for a new password. Only the SHA-256 of the
-- code is stored. A link for a new account has its address, and no account.
create table one_time_link (
  hash blob primary key,
  kind text not null,
  account integer,
  email text,
  expires integer not null
) strict, without rowid;

create index one_time_link_expires on one_time_link (expires);
create index one_time_link_account on one_time_link (account) where account is not null;

-- Counts of attempts, such as failed sign-ins, by the account or the client that they limit. `ends`: when the count ends.
create table attempt (
  key text primary key,
  count integer not null,
  ends integer not null
) strict, without rowid;

create index attempt_ends on attempt (ends);
