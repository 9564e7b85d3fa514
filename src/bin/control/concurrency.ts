// Number of concurrently processed objects by controller.
import { type SettingsOf, atLeast, camel, int32, option, section } from "#options";

/** Queue name and default worker count, by the kind's name in the flag. */
const queues = {
  deployment: ["deployment", 5],
  statefulset: ["statefulset", 5],
  replicaset: ["replicaset", 5],
  rc: ["replicationmanager", 5],
  endpoint: ["endpoint", 5],
  "service-endpoint": ["endpoint_slice", 5],
  ephemeralvolume: ["ephemeral_volume", 5],
  gc: ["garbage collector", 20],
  "horizontal-pod-autoscaler": ["horizontalpodautoscaler", 5],
  namespace: ["namespaces", 10],
  "resource-quota": ["resourcequota_primary", 5],
  "serviceaccount-token": ["serviceaccount_tokens_secret", 5],
  "ttl-after-finished": ["ttl_jobs_to_delete", 5],
} as const;
const mirroring = "mirroring-concurrent-service-endpoint-syncs";

type Kind = keyof typeof queues;
const kinds = Object.keys(queues) as Kind[];

const concurrent = <const F extends `concurrent-${Kind}-syncs` | typeof mirroring>(flag: F, count: number) =>
  option({
    flag,
    type: int32,
    default: count,
    check: atLeast(1),
    doc: "Number of concurrent workers.",
  });

export const concurrencySection = section("Concurrency", [
  ...kinds.map((kind) => concurrent(`concurrent-${kind}-syncs`, queues[kind][1])),
  concurrent(mirroring, 5),
]);

/** Returns the number of workers by queue name. */
export function workersFrom(
  values: SettingsOf<(typeof concurrencySection)["options"][number]>,
): ReadonlyMap<string, number> {
  return new Map<string, number>([
    ...kinds.map((kind) => [queues[kind][0], values[camel(`concurrent-${kind}-syncs`)]] as const),
    ["endpoint_slice_mirroring", values[camel(mirroring)]],
  ]);
}
