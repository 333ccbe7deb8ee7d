-- Keys by which known names are found by a part of them, in the inverse index (kinds o, s, p and l). This migration does
-- not expand: an older release would add names without their keys.

-- metadata: name_fill is the last known name [partition, slot, name] whose keys are filled in.
insert into metadata (name, value) select 'name_fill', '[0,-1,""]' where exists (select 1 from crawl_state limit 1)
  on conflict (name) do update set value = excluded.value;
