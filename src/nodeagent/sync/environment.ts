// Builds a container's environment: first envFrom, then its env list, then the services of the namespace.
import type { Container, EnvVar, Pod } from "#api";
import { environmentNameProblems } from "#schema";
import { expand } from "../plan/expand.ts";
import { type PodAddresses, podField, resourceField } from "../plan/downward.ts";
import { namespaceOf } from "../pod.ts";
import type { NodeFacts, ReferencedObjects } from "../interfaces.ts";

/**
 * The container config cannot be generated at present, for example because a referenced object is missing.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export interface EnvironmentFacts {
  readonly objects: ReferencedObjects;
  readonly node: NodeFacts;
  readonly podIps: readonly string[];
  readonly services: readonly [name: string, value: string][];
  /** Called with a message about keys that are not valid variable names. */
  readonly onSkipped?: (message: string) => void;
}

export async function environment(
  pod: Pod,
  container: Container,
  facts: EnvironmentFacts,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const source of container.envFrom ?? []) await addAll(found, pod, source, facts);
  const services = new Map(facts.services);
  const addresses: PodAddresses = { hostIps: facts.node.hostIps(), podIps: facts.podIps };
  for (const variable of container.env ?? []) {
    const value = variable.valueFrom
      ? await fromSource(variable, pod, container, addresses, facts)
      : expand(variable.value ?? "", (name) => found.get(name) ?? services.get(name));
    if (value !== undefined) found.set(variable.name, value);
  }
  for (const [name, value] of services) if (!found.has(name)) found.set(name, value);
  return found;
}

type EnvFrom = NonNullable<Container["envFrom"]>[number];

async function addAll(
  found: Map<string, string>,
  pod: Pod,
  source: EnvFrom,
  { objects, onSkipped }: EnvironmentFacts,
): Promise<void> {
  const namespace = namespaceOf(pod);
  const reference = source.configMapRef ?? source.secretRef;
  if (!reference) return;
  const name = reference.name ?? "";
  const isSecret = source.configMapRef === undefined;
  const object = isSecret ? await objects.secret(namespace, name) : await objects.configMap(namespace, name);
  if (!object) {
    if (reference.optional) return;
    throw new ConfigError(`${isSecret ? "secret" : "configmap"} ${JSON.stringify(name)} not found`);
  }
  const data = isSecret ? decoded(object.data) : object.data;
  const skipped: string[] = [];
  for (const [key, value] of Object.entries(data ?? {})) {
    const variable = (source.prefix ?? "") + key;
    if (environmentNameProblems(variable).length > 0) skipped.push(variable);
    else found.set(variable, value);
  }
  if (skipped.length === 0) return;
  const where = `${isSecret ? "secret" : "configMap"} ${namespace}/${name}`;
  onSkipped?.(
    `Keys [${skipped.toSorted().join(", ")}] from the EnvFrom ${where} were skipped since they are considered invalid environment variable names.`,
  );
}

/** Returns the value, or undefined if an optional source is missing. */
async function fromSource(
  { valueFrom }: EnvVar,
  pod: Pod,
  container: Container,
  addresses: PodAddresses,
  { objects, node }: EnvironmentFacts,
): Promise<string | undefined> {
  const namespace = namespaceOf(pod);
  if (valueFrom?.fieldRef) return configured(() => podField(pod, valueFrom.fieldRef!.fieldPath, addresses));
  if (valueFrom?.resourceFieldRef)
    return configured(() => resourceField(pod, valueFrom.resourceFieldRef!, container, node.allocatable()));
  if (valueFrom?.configMapKeyRef) {
    const { name = "", key, optional } = valueFrom.configMapKeyRef;
    const object = await objects.configMap(namespace, name);
    const value = object?.data?.[key];
    if (value !== undefined || optional) return value;
    throw new ConfigError(
      object
        ? `couldn't find key ${key} in ConfigMap ${namespace}/${name}`
        : `configmap ${JSON.stringify(name)} not found`,
    );
  }
  if (valueFrom?.secretKeyRef) {
    const { name = "", key, optional } = valueFrom.secretKeyRef;
    const object = await objects.secret(namespace, name);
    const value = decoded(object?.data)?.[key];
    if (value !== undefined || optional) return value;
    throw new ConfigError(
      object
        ? `couldn't find key ${key} in Secret ${namespace}/${name}`
        : `secret ${JSON.stringify(name)} not found`,
    );
  }
  return undefined;
}

function configured(value: () => string): string {
  try {
    return value();
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/** Decodes the base64 values of a secret to text. */
function decoded(
  data: Readonly<Record<string, unknown>> | null | undefined,
): Record<string, string> | undefined {
  if (!data) return undefined;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      typeof value === "string"
        ? Buffer.from(value, "base64").toString()
        : Buffer.from((value ?? []) as Uint8Array).toString(),
    ]),
  );
}
