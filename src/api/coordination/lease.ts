// Leases: the holder of something, and for how long.
import { type TypeOf, embedded, int32, microTime, pointer, string } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { coordination } from "../packages.ts";

const { message, kind } = coordination;

export const LeaseSpec = message("LeaseSpec", "Who holds the lease and since when.", {
  holderIdentity: pointer(1, string, "The present holder."),
  leaseDurationSeconds: pointer(
    2,
    int32,
    "How long others must wait after the last renewal before they take over.",
  ),
  acquireTime: pointer(3, microTime, "When the present holder got it."),
  renewTime: pointer(4, microTime, "When the holder last renewed it."),
  leaseTransitions: pointer(5, int32, "How often the holder changed."),
});
export type LeaseSpec = TypeOf<typeof LeaseSpec>;

export const Lease = kind(
  "Lease",
  "A claim that runs out unless it is renewed; for heartbeats and elections.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, LeaseSpec, "Who holds the lease and since when."),
  },
);
export type Lease = TypeOf<typeof Lease>;
