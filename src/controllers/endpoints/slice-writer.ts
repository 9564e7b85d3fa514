// Carries out a plan for the slices of one owner.
import { isDeepStrictEqual } from "node:util";
import { type AnyObject, type ApiClient, kinds } from "#client";
import { controllerReference, ignoreReasons } from "#controllerkit";
import { generateNameFor } from "../pods.ts";
import type { SeenSlice, SlicePlan } from "./slices.ts";

export interface SliceOwner {
  readonly owner: AnyObject;
  readonly labels: Readonly<Record<string, string>>;
  /** Those without a value are removed. */
  readonly annotations: Readonly<Record<string, string | undefined>>;
}

export async function writeSlices(
  client: ApiClient,
  { owner, labels, annotations }: SliceOwner,
  plan: SlicePlan,
  existing: readonly SeenSlice[],
): Promise<void> {
  const resource = client.of(kinds.endpointSlices);
  const namespace = owner.metadata.namespace!;
  // A slice that would go is used for one that would come.
  const spare = [...plan.remove];
  for (const { addressType, ports, endpoints } of plan.create) {
    const content = { addressType, endpoints: orNull(endpoints), ports: orNull(ports) };
    const at = spare.findIndex((slice) => slice.addressType === addressType);
    const [reused] = at < 0 ? [] : spare.splice(at, 1);
    const metadata = {
      ...(reused?.metadata ?? { generateName: generateNameFor(owner.metadata.name!), namespace }),
      labels: { ...labels },
      annotations: undefined,
      ...merged(reused?.metadata.annotations ?? {}, annotations),
      ownerReferences: [controllerReference(owner)],
    };
    if (reused) await resource.update({ ...reused, ...content, metadata });
    else await ignoreReasons([], resource.create({ metadata, ...content }));
  }
  const updated = new Map(plan.update.map(({ slice, endpoints }) => [slice, endpoints]));
  for (const slice of existing) {
    if (plan.remove.includes(slice)) continue;
    const endpoints = updated.get(slice);
    if (!endpoints && isDeepStrictEqual({ ...slice.metadata.labels }, { ...labels })) continue;
    await resource.update({
      ...slice,
      metadata: {
        ...slice.metadata,
        labels: { ...labels },
        annotations: undefined,
        ...merged(slice.metadata.annotations ?? {}, annotations),
      },
      endpoints: orNull(endpoints ?? slice.endpoints ?? []),
    });
  }
  for (const { metadata } of spare)
    await ignoreReasons(["NotFound"], resource.delete(metadata.name!, { namespace }));
}

/** A slice without endpoints or ports has none, rather than an empty list of them. */
const orNull = <T>(list: readonly T[]): T[] => (list.length > 0 ? [...list] : (null as never));

function merged(
  before: Readonly<Record<string, string>>,
  annotations: SliceOwner["annotations"],
): { annotations?: Record<string, string> } {
  const all = Object.entries({ ...before, ...annotations }).filter(([, value]) => value !== undefined);
  return all.length > 0 ? { annotations: Object.fromEntries(all) as Record<string, string> } : {};
}
