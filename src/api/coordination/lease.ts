// Leases: the holder of something, and for how long.
import { type TypeOf, embedded, int32, microTime, pointer, string } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { coordination } from "../packages.ts";

const { message, kind } = coordination;

export const LeaseSpec = message("LeaseSpec", "Specification of a lease.", {
  holderIdentity: pointer(1, string, "Identity of the current holder."),
  leaseDurationSeconds: pointer(
    2,
    int32,
    "Seconds after renewTime for which candidates must wait before acquiring the lease by force.",
  ),
  acquireTime: pointer(3, microTime, "Time at which the current holder acquired the lease."),
  renewTime: pointer(4, microTime, "Time at which the current holder last renewed the lease."),
  leaseTransitions: pointer(5, int32, "Number of transitions between holders."),
});
export type LeaseSpec = TypeOf<typeof LeaseSpec>;

export const Lease = kind(
  "Lease",
  "A renewable claim to a role, used for leader election and node heartbeats.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, LeaseSpec, "Specification of the lease."),
  },
);
export type Lease = TypeOf<typeof Lease>;
