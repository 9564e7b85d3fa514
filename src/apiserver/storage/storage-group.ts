// The API group by which storage settings name a resource.
import { type Dialect, groupName } from "#dialect";
import type { Strategy } from "#registry";

/** Events of both API groups are stored in one place, which belongs to the core group. */
export const storageGroup = ({ hub }: Pick<Strategy, "hub">, dialect: Dialect): string =>
  hub.kind.group === "events" ? "" : groupName(dialect, hub.kind);
