// Publishes the CA of the API server's certificate as a ConfigMap in every namespace, for pods to verify the
// server.
import type { ConfigMap } from "#api";
import { ApiError, exponentialBuckets } from "#base";
import { kinds } from "#client";
import type { Dialect } from "#dialect";
import { isActive } from "./service-accounts.ts";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";

const key = "ca.crt";
const description =
  "The authorities of the API server's certificate, for connections from inside the cluster; not meant for any other server.";

/** Decides whether the config map must be created or updated. Any description is accepted. */
export function decide(
  present: Pick<ConfigMap, "data" | "metadata"> | undefined,
  ca: string,
  { names }: Dialect,
): "create" | "update" | "nothing" {
  if (!present) return "create";
  const keys = Object.keys(present.data ?? {});
  const isDescribed = !!present.metadata.annotations?.[names.annotations.description];
  return keys.length === 1 && present.data![key] === ca && isDescribed ? "nothing" : "update";
}

const contentOf = (dialect: Dialect, ca: string) => ({
  annotations: { [dialect.names.annotations.description]: description },
  data: { [key]: ca },
});

export function rootCaController(context: ControllerContext, ca: string): Controller {
  const { client, clock, view, dialect } = context;
  const name = dialect.names.objects.rootCaConfigMap;
  const maps = client.of(kinds.configMaps);
  const byCode = { labels: ["code"], stability: "ALPHA" } as const;
  const syncs = context.metrics.counter({
    ...byCode,
    name: "root_ca_cert_publisher_sync_total",
    help: "Number of syncs of namespaces, by the status code of the failed request or 200.",
  });
  const durations = context.metrics.histogram({
    ...byCode,
    name: "root_ca_cert_publisher_sync_duration_seconds",
    help: "Time in seconds that a sync of a namespace takes, by the status code of the failed request or 200.",
    buckets: exponentialBuckets(0.001, 2, 15),
  });
  const queue = queueFor(context, "root CA", measured);
  const namespaces = view.follow(kinds.namespaces, ({ type, object }) => {
    if (type !== "deleted") queue.add(object.metadata.name!);
  });
  const published = view.follow(kinds.configMaps, ({ object }) => {
    if (object.metadata.name === name) queue.add(object.metadata.namespace!);
  });
  return { stopped: queue.stopped };

  async function measured(namespace: string): Promise<void> {
    const startedAt = clock.now();
    let code = "200";
    try {
      await work(namespace);
    } catch (error) {
      code = error instanceof ApiError ? String(error.code) : "500";
      throw error;
    } finally {
      syncs.with(code).add();
      durations.with(code).observe((clock.now() - startedAt) / 1000);
    }
  }

  async function work(namespace: string): Promise<void> {
    if (!isActive(namespaces.get(undefined, namespace))) return;
    const present = published.get(namespace, name);
    const { annotations, data } = contentOf(dialect, ca);
    switch (decide(present, ca, dialect)) {
      case "create":
        return await ignoreReasons(
          ["AlreadyExists", "NotFound"],
          maps.create({ metadata: { name, namespace, annotations }, data }),
        );
      case "update":
        return await ignoreReasons(
          ["NotFound"],
          maps.update({
            ...present!,
            metadata: {
              ...present!.metadata,
              annotations: { ...present!.metadata.annotations, ...annotations },
            },
            data,
          }),
        );
      case "nothing":
    }
  }
}
