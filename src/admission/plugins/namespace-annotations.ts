// Annotations of namespaces about their pods: node selectors and tolerations.
import { type Container, type Namespace, type Pod, Toleration } from "#api";
import { forbidden, parseQuantity, plainError } from "#base";
import type { Dialect } from "#dialect";
import { fromJsonValue, labelValueProblems, parseJson, qualifiedNameProblems } from "#schema";
import { type AdmissionPlugin, type AdmissionAttributes, typed } from "../attributes.ts";
import { Coverage, mergeTolerations } from "./merge-tolerations.ts";

export type FindNamespace = (name: string) => Promise<Namespace | undefined>;

const applies = ({ resource, subresource }: AdmissionAttributes): boolean =>
  resource.group === "" && resource.resource === "pods" && !subresource;
const refused = (attributes: AdmissionAttributes, why: string): Error =>
  forbidden(attributes.resource, attributes.name, why);

/** Cluster-wide node selectors: the default for namespaces without one, and limits of specific namespaces. */
export interface ClusterNodeSelectors {
  readonly clusterDefault: string;
  readonly byNamespace: ReadonlyMap<string, string>;
}

const noSelectors: ClusterNodeSelectors = { clusterDefault: "", byNamespace: new Map() };

export function podNodeSelector(
  { names }: Dialect,
  find: FindNamespace,
  cluster: ClusterNodeSelectors = noSelectors,
): AdmissionPlugin {
  const parsed = (text: string): Record<string, string> =>
    Object.fromEntries(
      (text === "" ? [] : text.split(",")).map((part) => {
        const words = part.split("=");
        if (words.length !== 2) throw plainError(`invalid selector: [${words.join(" ")}]`);
        const [key, value] = words.map((word) => word.trim()) as [string, string];
        const wrong = qualifiedNameProblems(key);
        if (wrong.length > 0)
          // The path Go prints for an error that concerns no particular field.
          throw plainError(`<nil>: Invalid value: ${JSON.stringify(key)}: ${wrong.join("; ")}`);
        const odd = labelValueProblems(value);
        if (odd.length > 0)
          throw plainError(`[${key}]: Invalid value: ${JSON.stringify(value)}: ${odd.join("; ")}`);
        return [key, value];
      }),
    );
  const namespaceSelector = async (attributes: AdmissionAttributes): Promise<Record<string, string>> => {
    const annotation = (await find(attributes.namespace))?.metadata.annotations?.[
      names.annotations.nodeSelector
    ];
    return parsed(annotation ?? cluster.clusterDefault);
  };
  /** Validates the pod's node selector against the limit of its namespace, if any. */
  const checkLimit = (attributes: AdmissionAttributes): void => {
    const limit = parsed(cluster.byNamespace.get(attributes.namespace) ?? "");
    if (Object.keys(limit).length === 0) return;
    const { nodeSelector = {} } = typed<Pod>(attributes.object).spec;
    if (
      Object.entries(nodeSelector).some(([key, value]) => !Object.hasOwn(limit, key) || limit[key] !== value)
    )
      throw refused(attributes, "pod node label selector labels conflict with its namespace whitelist");
  };
  const check = async (attributes: AdmissionAttributes): Promise<Record<string, string>> => {
    const { nodeSelector = {} } = typed<Pod>(attributes.object).spec;
    const selector = await namespaceSelector(attributes);
    if (
      Object.entries(selector).some(
        ([key, value]) => nodeSelector[key] !== undefined && nodeSelector[key] !== value,
      )
    )
      throw refused(attributes, "pod node label selector conflicts with its namespace node label selector");
    return selector;
  };
  return {
    name: "PodNodeSelector",
    handles: ["CREATE"],
    resources: ["pods"],
    mutate: async (attributes) => {
      if (!applies(attributes)) return;
      const { spec } = typed<Pod>(attributes.object);
      const selector = await check(attributes);
      if (Object.keys(selector).length > 0) spec.nodeSelector = { ...selector, ...spec.nodeSelector };
      checkLimit(attributes);
    },
    validate: async (attributes) => {
      if (applies(attributes)) {
        await check(attributes);
        checkLimit(attributes);
      }
      return [];
    },
  };
}

/** Default and allowed tolerations of namespaces without annotations. */
export interface ClusterTolerations {
  readonly default: readonly Toleration[];
  readonly allowed: readonly Toleration[];
}

export function podTolerationRestriction(
  { names }: Dialect,
  find: FindNamespace,
  cluster: ClusterTolerations = { default: [], allowed: [] },
): AdmissionPlugin {
  const annotationOf = async (
    attributes: AdmissionAttributes,
    annotation: string,
  ): Promise<Toleration[] | undefined> => {
    const text = (await find(attributes.namespace))?.metadata.annotations?.[annotation];
    if (!text) return text === undefined ? undefined : [];
    return tolerationsIn(text);
  };
  const check = async (attributes: AdmissionAttributes): Promise<void> => {
    const { tolerations = [] } = typed<Pod>(attributes.object).spec;
    if (tolerations.length === 0) return;
    const own = await annotationOf(attributes, names.annotations.allowedTolerations);
    const allowed = own ?? cluster.allowed;
    const coverage = new Coverage();
    for (const each of allowed) coverage.add(each);
    if (allowed.length > 0 && !tolerations.every((each) => coverage.covers(each)))
      throw plainError(
        `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${own ? "namespace" : "cluster"} whitelist`,
      );
  };
  return {
    name: "PodTolerationRestriction",
    handles: ["CREATE", "UPDATE"],
    resources: ["pods"],
    mutate: async (attributes) => {
      if (!applies(attributes)) return;
      const { spec } = typed<Pod>(attributes.object);
      const defaults =
        attributes.operation === "CREATE"
          ? ((await annotationOf(attributes, names.annotations.defaultTolerations)) ?? cluster.default)
          : [];
      const added = isBestEffort(spec)
        ? defaults
        : [...defaults, { key: names.taints.memoryPressure, operator: "Exists", effect: "NoSchedule" }];
      if (added.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], added);
      await check(attributes);
    },
    validate: async (attributes) => {
      if (applies(attributes)) await check(attributes);
      return [];
    },
  };
}

function tolerationsIn(text: string): Toleration[] {
  let value: unknown;
  try {
    ({ value } = parseJson(text));
  } catch (error) {
    throw plainError((error as Error).message);
  }
  if (value !== null && !Array.isArray(value))
    throw plainError(`json: cannot unmarshal ${typeof value} into Go value of type []v1.Toleration`);
  try {
    return (value ?? []).map((each: unknown) => fromJsonValue(Toleration, inAnyCase(each)).value);
  } catch (error) {
    throw plainError((error as Error).message);
  }
}

const fields = new Map(Object.keys(Toleration.fields).map((name) => [name.toLowerCase(), name]));

/** Go's decoder, which reads these annotations, matches field names in any case. */
const inAnyCase = (value: unknown): unknown =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(
        Object.entries(value).map(([name, each]) => [fields.get(name.toLowerCase()) ?? name, each]),
      );

/**
 * Reports whether a pod requests neither CPU nor memory (BestEffort), so that it is evicted first under
 * memory pressure.
 */
function isBestEffort({ containers, initContainers }: Pod["spec"]): boolean {
  const asks = ({ resources }: Container): boolean =>
    [resources.requests, resources.limits].some((amounts) =>
      ["cpu", "memory"].some(
        (name) => amounts?.[name] !== undefined && parseQuantity(amounts[name]).value !== 0n,
      ),
    );
  return ![...(containers ?? []), ...(initContainers ?? [])].some(asks);
}
