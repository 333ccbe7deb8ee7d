-- The holder of each named lock. A hold is valid until expires_at, and only with the newest fence.
create table named_lock (
  name text primary key,
  holder text,
  fence integer not null,
  expires_at integer
) strict, without rowid;

insert into named_lock (name, fence) values ('scheduler', 0), ('inbox', 0), ('daily', 0), ('followup', 0), ('snapshot', 0);

-- Every run of a job. ended_at is null while it runs; error is null if it succeeded.
create table job_run (
  number integer primary key autoincrement,
  lock_name text not null,
  job text not null,
  date text,
  holder text not null,
  started_at integer not null,
  ended_at integer,
  rows integer,
  error text
) strict;
