-- The usage of deleted accounts, for invoices. The number of an account is never reused, and nothing else has it.
create table closed_usage (
  account integer not null,
  day text not null,
  endpoint text not null,
  token integer not null,
  calls integer not null,
  primary key (account, day, endpoint, token)
) strict, without rowid;
