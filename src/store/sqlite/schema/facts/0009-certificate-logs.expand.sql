-- How far each certificate log was read, and who reads it. A lease is valid until expires_at, and only with the newest
-- fence. state is null before the first entry; problem says why a log is left out.
create table certificate_log (
  id text primary key,
  url text not null,
  state text,
  saved_at integer,
  problem text,
  holder text,
  fence integer not null default 0,
  expires_at integer
) strict, without rowid;
