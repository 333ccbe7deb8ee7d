-- The inverse index: which names had a record, and when. It is the union of its published runs, each a sorted sequence
-- of entries (src/inverse/entries/block.ts). Every transaction that changes records adds a run, and runs are merged
-- later. This migration does not expand: an older release would change records without adding a run.

-- A sorted run. state: building, published or replaced. fence: of the lock hold under which a merge began it; 0 for one
-- that a writer of records added. bytes: of its blocks. A number is never given twice.
create table inverse_run (
  number integer primary key autoincrement,
  state text not null,
  fence integer not null,
  bytes integer not null
) strict;

-- Some dozen entries of a run, found by the position of the last one. The index is apart from the rows, which are long:
-- inside a table without rowid, they would make it twice as deep.
create table inverse_block (
  number integer primary key,
  run integer not null,
  last_position blob not null,
  entries blob not null,
  checksum integer not null
) strict;

create unique index inverse_block_position on inverse_block (run, last_position);

insert into named_lock (name, fence) values ('inverse', 0);

-- metadata: how far the names that were stored before are filled in, as the last id that is and the last id to fill.
insert into metadata (name, value) select 'inverse_fill', json_array(0, max(id)) from facts having max(id) is not null;
-- metadata: how often entries were erased because a name was forgotten.
insert into metadata (name, value) values ('inverse_erasures', '0');
