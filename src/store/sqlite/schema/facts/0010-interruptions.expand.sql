-- A time in which records of a type were not observed continuously: last seen, not there after that, seen again. The
-- states on both sides may be one state.
create table dns_interruption (
  id integer not null,
  type integer not null,
  seen_again integer not null,
  last_seen integer not null,
  checksum integer,
  primary key (id, type, seen_again)
) strict, without rowid;
