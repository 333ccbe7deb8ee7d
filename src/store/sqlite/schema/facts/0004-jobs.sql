-- Who has which duty of the night: a hold stands until `until`, and only with the newest fence.
create table duty (
  duty text primary key,
  holder text,
  fence integer not null,
  until integer
) strict, without rowid;

insert into duty (duty, fence) values ('night', 0), ('inbox', 0), ('daily', 0), ('followup', 0), ('snapshot', 0);

-- Every run of a job; ended is null while it runs, error where it went well.
create table run (
  number integer primary key autoincrement,
  duty text not null,
  job text not null,
  date text,
  holder text not null,
  began integer not null,
  ended integer,
  rows integer,
  error text
) strict;
