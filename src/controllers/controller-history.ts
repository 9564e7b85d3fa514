// Revisions of a workload's template, stored as ControllerRevision objects.
import { isDeepStrictEqual } from "node:util";
import type { ControllerRevision, LabelSelector, PodTemplateSpec } from "#api";
import { type AnyObject, type ApiClient, kinds } from "#client";
import {
  type ClusterView,
  claim,
  controllerOf,
  controllerReference,
  ignoreReasons,
  isAlreadyExists,
  selects,
  withoutUndefined,
} from "#controllerkit";
import { createdAt } from "./pods.ts";
import { canonicalText, revisionHashOf } from "./template-hash.ts";

export type SeenRevision = ControllerRevision & AnyObject;

interface Owner extends AnyObject {
  readonly spec: {
    readonly selector?: LabelSelector | null | undefined;
    readonly template: PodTemplateSpec;
  };
}

export interface ControllerHistory {
  /** Lists the owner's revisions, oldest first, adopting matching orphans. */
  list(owner: Owner, freshOwner: () => Promise<AnyObject>): Promise<SeenRevision[]>;
  /**
   * Creates a revision; increments the collision count while the name is taken by a revision with other data.
   */
  create(
    owner: Owner,
    revision: number,
    collisions: number,
    extra?: { readonly hashLabel?: string; readonly annotations?: Readonly<Record<string, string>> },
  ): Promise<{ readonly revision: SeenRevision; readonly collisions: number }>;
  renumber(revision: SeenRevision, number: number): Promise<SeenRevision>;
  delete(revision: SeenRevision): Promise<void>;
}

/**
 * Returns the data of a workload's revisions: a patch that restores the template. Keys are sorted, since
 * clients compare the data byte by byte with what they compute from the template.
 */
export const templateData = ({ spec }: Owner): unknown =>
  JSON.parse(canonicalText({ spec: { template: { ...spec.template, $patch: "replace" } } }));

export const hasData = (revision: SeenRevision, data: unknown): boolean =>
  isDeepStrictEqual(withoutUndefined(revision.data), withoutUndefined(data));

/** Returns the template stored in a revision. */
export function templateOf<T>(revision: SeenRevision): T {
  const { $patch: _, ...template } = (revision.data as { spec: { template: object & { $patch?: string } } })
    .spec.template;
  return template as T;
}

export const nextNumber = (revisions: readonly SeenRevision[]): number =>
  (revisions.at(-1)?.revision ?? 0) + 1;

const byNumber = (a: SeenRevision, b: SeenRevision): number =>
  (a.revision ?? 0) - (b.revision ?? 0) ||
  createdAt(a) - createdAt(b) ||
  (a.metadata.name! < b.metadata.name! ? -1 : 1);

const maxPrefixLength = 223;

export function controllerHistory(client: ApiClient, view: ClusterView): ControllerHistory {
  const resource = client.of(kinds.controllerRevisions);
  const revisions = view.follow(kinds.controllerRevisions);
  const orphans = revisions.index("orphans", (each) =>
    controllerOf(each) ? [] : [each.metadata.namespace ?? ""],
  );
  return {
    list: async (owner, freshOwner) => {
      const { uid, namespace } = owner.metadata;
      const mine = await claim([...revisions.controlledBy(uid!), ...orphans(namespace ?? "")], {
        owner,
        matches: ({ metadata }) => selects(owner.spec.selector, metadata.labels),
        resource,
        freshOwner,
      });
      return mine.toSorted(byNumber);
    },
    create: async (owner, revision, collisions, extra = {}) => {
      const data = templateData(owner);
      const namespace = owner.metadata.namespace!;
      for (let count = collisions; ; count++) {
        const hash = revisionHashOf(data, count);
        const name = `${owner.metadata.name!.slice(0, maxPrefixLength)}-${hash}`;
        try {
          const created = await resource.create({
            metadata: {
              name,
              namespace,
              labels: {
                ...owner.spec.template.metadata?.labels,
                [extra.hashLabel ?? client.dialect.names.labels.revisionDataHash]: hash,
              },
              ...(extra.annotations && { annotations: extra.annotations }),
              ownerReferences: [controllerReference(owner)],
            },
            data: data as never,
            revision,
          });
          return { revision: created, collisions: count };
        } catch (error) {
          if (!isAlreadyExists(error)) throw error;
          const present = await resource.get(name, { namespace });
          if (hasData(present, data)) return { revision: present, collisions: count };
        }
      }
    },
    renumber: async (revision, number) =>
      revision.revision === number ? revision : await resource.update({ ...revision, revision: number }),
    delete: async ({ metadata }) =>
      await ignoreReasons(["NotFound"], resource.delete(metadata.name!, { namespace: metadata.namespace! })),
  };
}
