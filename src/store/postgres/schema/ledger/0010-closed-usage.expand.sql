-- The usage of deleted accounts, for invoices. The number of an account is never reused, and nothing else has it.
create table closed_usage (
  account integer not null,
  day text collate "C" not null,
  endpoint text collate "C" not null,
  token integer not null,
  calls bigint not null,
  primary key (account, day, endpoint, token)
);
