/**
 * What the store reads and calls of Citus, as tables and functions of a schema. PostgreSQL finds them before its own
 * ones, so a process that gets the URL of `withStubs` takes the database for one with Citus.
 */

import { plainArray } from '../../../../src/store/postgres/database/arrays.ts'
import { DISTRIBUTED_TABLES } from '../../../../src/store/postgres/database/distribution.ts'

/** Shards of the artificial cluster. */
export const STUB_SHARDS = 8

/**
 * Each call is a row of `citus_call`. As with Citus, a table is distributed once. `former_rows` stands for the rows that
 * stay on the coordinator until they are removed.
 */
export const CITUS_STUBS = `
  create table pg_extension as select 'citus' as extname;
  create table pg_dist_node (groupid integer);
  insert into pg_dist_node values (0);
  create table pg_dist_partition (logicalrelid regclass primary key);
  create table pg_dist_shard (shardid bigint, logicalrelid regclass, shardminvalue text, shardmaxvalue text);
  create table former_rows (name regclass primary key);
  create table citus_call (name text, argument text);
  create function create_distributed_table(name text, key text, colocate_with text) returns void language sql as $$
    insert into pg_dist_partition values (name::regclass);
    insert into former_rows values (name::regclass);
    insert into citus_call values ('create_distributed_table', name) $$;
  create function citus_add_local_table_to_metadata(name text) returns void language sql as $$
    insert into pg_dist_partition values (name::regclass);
    insert into citus_call values ('citus_add_local_table_to_metadata', name) $$;
  create function truncate_local_data_after_distributing_table(name text) returns void language sql as $$
    delete from former_rows f where f.name = truncate_local_data_after_distributing_table.name::regclass;
    insert into citus_call values ('truncate_local_data_after_distributing_table', name) $$;
  create function pg_relation_size(regclass) returns bigint language sql as $$
    select count(*) from former_rows where name = $1 $$`

/** The tables of an existing store as distributed, in shards of equal ranges of the hash. */
export const STUBS_DISTRIBUTED = `
  insert into pg_dist_partition
    select name::regclass from unnest('${plainArray([...DISTRIBUTED_TABLES, 'commit_marker'])}'::text[]) name;
  insert into pg_dist_shard
    select number, 'crawl_state'::regclass, number * width - 2147483648, (number + 1) * width - 2147483649
    from generate_series(0, ${STUB_SHARDS - 1}) number, (select 4294967296 / ${STUB_SHARDS} as width) w`

/** The URL of a schema with the stubs. */
export function withStubs(url: string): string {
  return url.replace(/(search_path%3D[^&]*)/, '$1,pg_catalog')
}
