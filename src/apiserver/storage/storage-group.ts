// The group by which settings of the store name a resource.
import { type Dialect, groupName } from "#dialect";
import type { Strategy } from "#registry";

/** Events of both groups lie in one place, which counts as the core group's. */
export const storageGroup = ({ hub }: Pick<Strategy, "hub">, dialect: Dialect): string =>
  hub.kind.group === "events" ? "" : groupName(dialect, hub.kind);
