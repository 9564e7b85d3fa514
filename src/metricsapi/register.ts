// Registers the resource metrics API of this process with the API server's aggregator, and unregisters it.
import type { APIService } from "#api";
import type { Log } from "#base";
import { type ApiClient, kinds } from "#client";
import { isAlreadyExists, isNotFound, orUndefined } from "#controllerkit";
import type { Dialect } from "#dialect";
import { metricsGroup, metricsVersion } from "./metrics-api.ts";

/** Name of the service behind the APIService; another metrics server would use a different one. */
const serviceName = "resource-metrics";
const readerRole = "system:aggregated-metrics-reader";

export const servedName = ({ data }: Dialect): string => `${serviceName}.${data.systemNamespace}.svc`;

export interface Registration {
  readonly port: number;
  /** CA of the serving certificate, as PEM. */
  readonly authority: string;
}

/** Registers the API, unless another server has registered it. */
export async function registerMetricsApi(
  client: ApiClient,
  { port, authority }: Registration,
  log: Log,
): Promise<void> {
  const { dialect } = client;
  const namespace = dialect.data.systemNamespace;
  const name = apiServiceName(dialect);
  const found = await orUndefined(client.of(kinds.apiServices).get(name));
  if (found && !isOwn(found, namespace)) {
    log.info("the resource metrics API is served by another server", {
      service: `${found.spec.service?.namespace}/${found.spec.service?.name}`,
    });
    return;
  }
  await createOrPatch(
    client.of(kinds.services),
    serviceName,
    { namespace },
    {
      type: "ExternalName",
      externalName: "localhost",
      ports: [{ port, name: "https" }],
    },
  );
  await createOrPatch(
    client.of(kinds.apiServices),
    name,
    {},
    {
      group: metricsGroup(dialect),
      version: metricsVersion,
      service: { namespace, name: serviceName, port },
      caBundle: Buffer.from(authority).toString("base64"),
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  );
  await createReaderRole(client);
}

/**
 * Removes the registration of an earlier run, so that clients do not wait for a server that does not exist.
 */
export async function unregisterMetricsApi(client: ApiClient): Promise<void> {
  const namespace = client.dialect.data.systemNamespace;
  const name = apiServiceName(client.dialect);
  const found = await orUndefined(client.of(kinds.apiServices).get(name));
  if (!found || !isOwn(found, namespace)) return;
  await orUndefined(client.of(kinds.apiServices).delete(name, { uid: found.metadata.uid! }));
  await orUndefined(client.of(kinds.services).delete(serviceName, { namespace }));
}

const apiServiceName = (dialect: Dialect): string => `${metricsVersion}.${metricsGroup(dialect)}`;

const isOwn = ({ spec: { service } }: APIService, namespace: string): boolean =>
  service?.name === serviceName && service.namespace === namespace;

interface Writable {
  patch(name: string, type: "merge", patch: unknown, at: { readonly namespace?: string }): Promise<unknown>;
  create(object: never): Promise<unknown>;
}

async function createOrPatch(
  resource: Writable,
  name: string,
  at: { readonly namespace?: string },
  spec: object,
): Promise<void> {
  try {
    await resource.patch(name, "merge", { spec }, at);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await resource.create({ metadata: { name, ...at }, spec } as never);
  }
}

/** Creates the role that allows anyone who may view a namespace to read metrics. */
async function createReaderRole(client: ApiClient): Promise<void> {
  const { aggregateToAdmin, aggregateToEdit, aggregateToView } = client.dialect.names.labels;
  const labels = Object.fromEntries(
    [aggregateToAdmin, aggregateToEdit, aggregateToView].map((each) => [each, "true"]),
  );
  const rule = { apiGroups: [metricsGroup(client.dialect)], resources: ["pods", "nodes"] };
  try {
    await client.of(kinds.clusterRoles).create({
      metadata: { name: readerRole, labels },
      rules: [{ ...rule, verbs: ["get", "list", "watch"] }],
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
