-- The files that an account has paid for on a day. A transaction that adds one locks the row of that day's budget.
create table paid_file (
  account integer not null,
  day text collate "C" not null,
  file text collate "C" not null,
  primary key (account, day, file)
);
