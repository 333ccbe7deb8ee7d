-- Keys by which known names are found by a part of them, in the inverse index (kinds o, s, p and l). This migration does
-- not expand: an older release would add names without their keys.

-- metadata: name_fill is the last known name [slot, name] whose keys are filled in.
insert or replace into metadata (name, value) select 'name_fill', '[-1,""]' where exists (select 1 from crawl_state);
