-- The files that an account has paid for on a day.
create table paid_file (
  account integer not null,
  day text not null,
  file text not null,
  primary key (account, day, file)
) strict, without rowid;
