-- A time in which records of a type were not observed continuously: last seen, not there after that, seen again. The
-- states on both sides may be one state.
create table dns_interruption (
  part smallint not null,
  type smallint not null,
  id bigint not null,
  seen_again bigint not null,
  last_seen bigint not null,
  primary key (part, id, type, seen_again)
);
