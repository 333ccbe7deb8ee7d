-- The holder of each named lock. A hold is valid until expires_at, and only with the newest fence.
create table named_lock (
  name text collate "C" primary key,
  holder text collate "C",
  fence bigint not null,
  expires_at bigint
) with (fillfactor = 50);

insert into named_lock (name, fence)
  values ('scheduler', 0), ('inbox', 0), ('daily', 0), ('followup', 0), ('snapshot', 0);

-- Every run of a job. ended_at is null while it runs; error is null if it succeeded.
create table job_run (
  number bigint generated always as identity primary key,
  lock_name text collate "C" not null,
  job text collate "C" not null,
  date text collate "C",
  holder text collate "C" not null,
  started_at bigint not null,
  ended_at bigint,
  rows bigint,
  error text
);
