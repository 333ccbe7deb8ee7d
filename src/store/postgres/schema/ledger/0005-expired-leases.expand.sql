-- The token leases of processes that the ledger has not heard from. Their units count as spent in `budget`, and become
-- leases again if the process returns.
create table expired_lease (
  holder text collate "C" not null,
  account integer not null,
  day text collate "C" not null,
  units integer not null,
  primary key (holder, account, day)
);
