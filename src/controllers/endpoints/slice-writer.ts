// Executes a plan for the slices of one owner.
import { isDeepStrictEqual } from "node:util";
import { type AnyObject, type ApiClient, kinds } from "#client";
import { controllerReference, ignoreReasons } from "#controllerkit";
import { generateNameFor } from "../pods.ts";
import type { SeenSlice, SlicePlan } from "./slices.ts";

export interface SliceOwner {
  readonly owner: AnyObject;
  readonly labels: Annotations;
  /** Computes the annotations of a slice when it is written. */
  readonly annotate: (before: Annotations) => Annotations;
  /** Whether changed annotations alone cause a slice to be written. */
  readonly followsAnnotations: boolean;
  readonly onWrite: OnWrite;
}

/** Called after a slice was written or deleted. */
export type OnWrite = (operation: "create" | "update" | "delete") => void;

type Annotations = Readonly<Record<string, string>>;

export async function writeSlices(
  client: ApiClient,
  { owner, labels, annotate, followsAnnotations, onWrite }: SliceOwner,
  plan: SlicePlan,
  existing: readonly SeenSlice[],
): Promise<void> {
  const resource = client.of(kinds.endpointSlices);
  const namespace = owner.metadata.namespace!;
  // Reuse a slice that would be deleted for one to be created.
  const spare = [...plan.remove];
  for (const { addressType, ports, endpoints } of plan.create) {
    const content = { addressType, endpoints: orNull(endpoints), ports: orNull(ports) };
    const at = spare.findIndex((slice) => slice.addressType === addressType);
    const [reused] = at < 0 ? [] : spare.splice(at, 1);
    const metadata = {
      ...(reused?.metadata ?? { generateName: generateNameFor(owner.metadata.name!), namespace }),
      labels: { ...labels },
      annotations: orUndefined(annotate(reused?.metadata.annotations ?? {})),
      ownerReferences: [controllerReference(owner)],
    };
    if (reused) await resource.update({ ...reused, ...content, metadata });
    else await ignoreReasons([], resource.create({ metadata, ...content }));
    onWrite(reused ? "update" : "create");
  }
  const updated = new Map(plan.update.map(({ slice, endpoints }) => [slice, endpoints]));
  for (const slice of existing) {
    if (plan.remove.includes(slice)) continue;
    const endpoints = updated.get(slice);
    const before = slice.metadata.annotations ?? {};
    const annotations = annotate(before);
    const isCurrent =
      isDeepStrictEqual({ ...slice.metadata.labels }, { ...labels }) &&
      (!followsAnnotations || isDeepStrictEqual({ ...before }, { ...annotations }));
    if (!endpoints && isCurrent) continue;
    await resource.update({
      ...slice,
      metadata: {
        ...slice.metadata,
        // The original rewrites mirrored slices from scratch, without generateName.
        ...(followsAnnotations && { generateName: undefined }),
        labels: { ...labels },
        annotations: orUndefined(annotations),
      },
      endpoints: orNull(endpoints ?? slice.endpoints ?? []),
    });
    onWrite("update");
  }
  await removeSlices(client, spare, onWrite);
}

export async function removeSlices(
  client: ApiClient,
  slices: readonly SeenSlice[],
  onWrite: OnWrite,
): Promise<void> {
  const resource = client.of(kinds.endpointSlices);
  for (const { metadata } of slices) {
    await ignoreReasons(["NotFound"], resource.delete(metadata.name!, { namespace: metadata.namespace! }));
    onWrite("delete");
  }
}

/** Empty lists are serialized as null, like the original does. */
const orNull = <T>(list: readonly T[]): T[] => (list.length > 0 ? [...list] : (null as never));

const orUndefined = (annotations: Annotations): Record<string, string> | undefined =>
  Object.keys(annotations).length > 0 ? { ...annotations } : undefined;
