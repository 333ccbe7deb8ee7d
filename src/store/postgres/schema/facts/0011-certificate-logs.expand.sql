-- How far each certificate log was read, and who reads it. A lease is valid until expires_at, and only with the newest
-- fence. state is null before the first entry; problem says why a log is left out.
create table certificate_log (
  id text collate "C" primary key,
  url text collate "C" not null,
  state text collate "C",
  saved_at bigint,
  problem text collate "C",
  holder text collate "C",
  fence bigint not null default 0,
  expires_at bigint
) with (fillfactor = 50);
