// What the server says is missing: never silent.
import type { Missing as MissingInfo } from "../api/wire.ts";
import { visibleLine } from "../text/visible.ts";

export function Missing({ missing }: { missing: MissingInfo }) {
  const { eventsEvicted, eventsFolded, changesDropped, withheld } = missing;
  const parts = [
    eventsEvicted > 0 && `${eventsEvicted} events were removed before their time to keep the budget`,
    eventsFolded > 0 && `${eventsFolded} events were folded into series`,
    changesDropped > 0 && `${changesDropped} changes were not kept`,
    withheld.length > 0 &&
      `changes of ${withheld.map(visibleLine).join(", ")} are not shown: you may not get them`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? null : (
    <div class="notice" role="note">
      {parts.join("; ")}.
    </div>
  );
}
