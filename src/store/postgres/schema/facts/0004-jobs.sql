-- Who has which duty of the night: a hold stands until `until`, and only with the newest fence.
create table duty (
  duty text collate "C" primary key,
  holder text collate "C",
  fence bigint not null,
  until bigint
) with (fillfactor = 50);

insert into duty (duty, fence) values ('night', 0), ('inbox', 0), ('daily', 0), ('followup', 0), ('snapshot', 0);

-- Every run of a job; ended is null while it runs, error where it went well.
create table run (
  number bigint generated always as identity primary key,
  duty text collate "C" not null,
  job text collate "C" not null,
  date text collate "C",
  holder text collate "C" not null,
  began bigint not null,
  ended bigint,
  rows bigint,
  error text
);
