// Rolls a deployment back to the template of an earlier revision, as requested by the annotation that
// replaces the deprecated field rollbackTo.
import type { Deployment } from "#api";
import type { Dialect } from "#dialect";
import { equalIgnoringHash, hashLabel } from "../template-hash.ts";
import { ownAnnotations, revisionOf } from "./revisions.ts";
import type { SeenDeployment, SeenReplicaSet } from "./rollout.ts";

export interface Rollback {
  /** The deployment to write; the annotation is removed in either case. */
  readonly deployment: SeenDeployment;
  readonly event: {
    readonly type: "Normal" | "Warning";
    readonly reason: string;
    readonly text: string;
  };
}

/** Returns the requested revision; 0 stands for the previous one. */
export function rollbackTarget({ metadata }: Deployment, { names }: Dialect): bigint | undefined {
  const text = metadata.annotations?.[names.annotations.deprecatedRollbackTo];
  return text !== undefined && /^[-+]?\d+$/.test(text) ? BigInt(text) : undefined;
}

export function rolledBack(
  deployment: SeenDeployment,
  sets: readonly SeenReplicaSet[],
  target: bigint,
  dialect: Dialect,
): Rollback {
  const { [dialect.names.annotations.deprecatedRollbackTo]: _, ...annotations } =
    deployment.metadata.annotations ?? {};
  const cleared = { ...deployment, metadata: { ...deployment.metadata, annotations } };
  const failed = (reason: string, text: string): Rollback => ({
    deployment: cleared,
    event: { type: "Warning", reason: `DeploymentRollback${reason}`, text },
  });
  const revision = target === 0n ? lastRevision(sets, dialect) : target;
  if (revision === 0n) return failed("RevisionNotFound", "Unable to find last revision.");
  const set = sets.find((each) => revisionOf(each, dialect) === revision);
  if (!set) return failed("RevisionNotFound", "Unable to find the revision to rollback to.");
  const { name } = deployment.metadata;
  const { template } = set.spec;
  if (equalIgnoringHash(template, deployment.spec.template, hashLabel)) {
    const text = `The rollback revision contains the same template as current deployment "${name}"`;
    return failed("TemplateUnchanged", text);
  }
  const { [hashLabel]: __, ...labels } = template.metadata.labels ?? {};
  const own = ownAnnotations(dialect);
  const kept = Object.entries(annotations).filter(([key]) => own.has(key));
  const restored = Object.entries(set.metadata.annotations ?? {}).filter(([key]) => !own.has(key));
  return {
    deployment: {
      ...cleared,
      metadata: { ...cleared.metadata, annotations: Object.fromEntries([...kept, ...restored]) },
      spec: {
        ...deployment.spec,
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    },
    event: {
      type: "Normal",
      reason: "DeploymentRollback",
      text: `Rolled back deployment "${name}" to revision ${revision}`,
    },
  };
}

/** Returns the second highest revision, or 0. */
function lastRevision(sets: readonly SeenReplicaSet[], dialect: Dialect): bigint {
  const revisions = sets.map((set) => revisionOf(set, dialect)).toSorted((a, b) => (a > b ? -1 : 1));
  return revisions[1] ?? 0n;
}
