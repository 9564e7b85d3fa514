// Determines which agent a sandbox or container belongs to. Agents of several clusters may share a machine
// and even a runtime: each sets an owner label and sees only sandboxes and containers with that label. The
// agent with the default root directory sets no owner label, like every agent of this API family, and owns
// whatever has none.
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Dialect } from "#dialect";
import { runtimeLabelNames } from "./runtime-labels.ts";

/** Returns the owner label of an agent with this root directory; undefined for the default directory. */
export function ownerOf(rootDirectory: string, dialect: Dialect): string | undefined {
  const path = resolve(rootDirectory);
  if (path === dialect.paths.agentRoot) return undefined;
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}

/** Reports whether a sandbox or container with these labels belongs to this agent. */
export type Owns = (labels: Readonly<Record<string, string>>) => boolean;

/**
 * `knownUids` are pods with a directory below the agent's root. Their sandboxes and containers belong to this
 * agent even without an owner label, which earlier versions did not set.
 */
export function ownership(
  dialect: Dialect,
  owner: string | undefined,
  knownUids: ReadonlySet<string> = new Set(),
): Owns {
  const names = runtimeLabelNames(dialect);
  return (labels) => {
    const uid = labels[names.podUid];
    if (uid === undefined) return false;
    const found = labels[names.owner];
    return found === owner || (found === undefined && knownUids.has(uid));
  };
}
