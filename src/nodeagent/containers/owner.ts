// Which agent a sandbox or container belongs to. Agents of several clusters may share a machine and even a
// runtime: each labels what it makes with its owner, and sees only its own. The agent with the standard root
// directory is the machine's own: it labels nothing, as every agent of this API family, and owns what has no
// owner.
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Dialect } from "#dialect";
import { runtimeLabelNames } from "./runtime-labels.ts";

/** The owner that an agent with this root directory labels its pods with; undefined for the standard one. */
export function ownerOf(rootDirectory: string, dialect: Dialect): string | undefined {
  const path = resolve(rootDirectory);
  if (path === dialect.paths.agentRoot) return undefined;
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}

/** Whether labels of the runtime name one of our pods. */
export type Owns = (labels: Readonly<Record<string, string>>) => boolean;

/**
 * `knownUids` are pods with a directory below the agent's root: theirs are ours even without an owner, since
 * agents before this one set none.
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
