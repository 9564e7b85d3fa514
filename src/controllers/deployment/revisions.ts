// Revision numbers and other annotations that a deployment maintains on its replica sets.
import type { Dialect } from "#dialect";
import { type SeenDeployment, type SeenReplicaSet, maxReplicas, replicasOf } from "./rollout.ts";

type Annotations = Readonly<Record<string, string>>;

const maxHistoryLength = 2000;

/** Returns the revision of a set. Revisions are 64 bits wide, since adopted sets may carry any number. */
export const revisionOf = ({ metadata }: SeenReplicaSet, { names }: Dialect): bigint => {
  const text = metadata.annotations?.[names.annotations.deploymentRevision];
  return text !== undefined && /^-?\d+$/.test(text) ? BigInt(text) : 0n;
};

/** Returns the revision after the highest of the given sets. */
export const revisionAfter = (sets: readonly SeenReplicaSet[], dialect: Dialect): bigint =>
  sets.reduce((highest, set) => {
    const revision = revisionOf(set, dialect);
    return revision > highest ? revision : highest;
  }, 0n) + 1n;

export const annotatedNumber = ({ metadata }: SeenReplicaSet, annotation: string): number | undefined => {
  const text = metadata.annotations?.[annotation];
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
};

export const sizeAnnotations = (deployment: SeenDeployment, { names }: Dialect): Annotations => ({
  [names.annotations.deploymentDesiredReplicas]: String(replicasOf(deployment)),
  [names.annotations.deploymentMaxReplicas]: String(maxReplicas(deployment)),
});

/** Returns the annotations that are not copied between a deployment and its sets. */
export const ownAnnotations = ({ names: { annotations } }: Dialect): ReadonlySet<string> =>
  new Set([
    annotations.deploymentRevision,
    annotations.deploymentRevisionHistory,
    annotations.deploymentDesiredReplicas,
    annotations.deploymentMaxReplicas,
    annotations.deprecatedRollbackTo,
    annotations.lastApplied,
  ]);

/** Returns the annotations of the new set: those of the deployment, and its revision with its history. */
export function newSetAnnotations(
  deployment: SeenDeployment,
  before: Annotations,
  revision: bigint,
  dialect: Dialect,
): Annotations {
  const { deploymentRevision, deploymentRevisionHistory } = dialect.names.annotations;
  const skipped = ownAnnotations(dialect);
  const after: Record<string, string> = { ...before };
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {}))
    if (!skipped.has(key)) after[key] = value;
  const old = before[deploymentRevision];
  if (old !== undefined && old !== "" && !/^-?\d+$/.test(old)) return after;
  if (BigInt(old || 0) >= revision) return after;
  after[deploymentRevision] = String(revision);
  if (old !== undefined) {
    const history = [...(before[deploymentRevisionHistory] || "").split(",").filter(Boolean), old];
    while (history.join(",").length > maxHistoryLength && history.length > 1) history.shift();
    after[deploymentRevisionHistory] = history.join(",");
  }
  return after;
}
