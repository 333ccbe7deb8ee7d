-- The files that an account has paid for on a day. Whoever adds one has the row of that day's budget locked.
create table download (
  account integer not null,
  day text collate "C" not null,
  file text collate "C" not null,
  primary key (account, day, file)
);
