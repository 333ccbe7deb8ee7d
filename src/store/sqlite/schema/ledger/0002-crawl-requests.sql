-- Names that somebody wants to be visited soon, by the range of their slot.
create table wish (
  kind text not null,
  slots integer not null,
  name text not null,
  primary key (kind, slots, name)
) strict, without rowid;

-- How many names an account asked for on a day.
create table asking (
  account integer not null,
  day text not null,
  names integer not null,
  primary key (account, day)
) strict, without rowid;
