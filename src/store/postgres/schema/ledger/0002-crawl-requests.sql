-- Names that somebody wants to be visited soon, by the range of their slot.
create table wish (
  kind text collate "C" not null,
  slots smallint not null,
  name text collate "C" not null,
  primary key (kind, slots, name)
);

-- How many names an account asked for on a day.
create table asking (
  account bigint not null,
  day text collate "C" not null,
  names bigint not null,
  primary key (account, day)
);
