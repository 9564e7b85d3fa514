// Shows what the server reports as missing, and which parts of the search are not supported.
import type { Missing as MissingInfo } from "../api/wire.ts";
import { visibleLine } from "../text/visible.ts";

export function Missing({ missing, unused }: { missing: MissingInfo; unused: readonly string[] }) {
  const { eventsEvicted, eventsFolded, changesDropped, withheld } = missing;
  const parts = [
    unused.length > 0 && `${unused.map(visibleLine).join(", ")}: not supported by this search and ignored`,
    eventsEvicted > 0 && `${eventsEvicted} events were deleted early to stay within the limits`,
    eventsFolded > 0 && `${eventsFolded} events were folded into series`,
    changesDropped > 0 && `${changesDropped} changes were not recorded`,
    withheld.length > 0 &&
      `changes of ${withheld.map(visibleLine).join(", ")} are not shown: you are not allowed to get them`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? null : (
    <div class="notice" role="note">
      {parts.join("; ")}.
    </div>
  );
}
