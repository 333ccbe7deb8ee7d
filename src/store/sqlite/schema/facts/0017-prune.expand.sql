-- The lock of the job that removes what is older than the settings keep it.
insert into named_lock (name, fence) values ('prune', 0);
