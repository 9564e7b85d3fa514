// The words of the search box: those that people type after their command line client. `deploy/web -n shop`,
// `get pods -A`, `events type=Warning reason=BackOff`, and whatever else as a part of names.

export interface Query {
  /** As the server takes it: a kind, a resource or a short name. */
  readonly kinds: readonly string[];
  readonly names: readonly string[];
  /** Empty for all. */
  readonly namespace: string;
  readonly types: readonly string[];
  readonly reasons: readonly string[];
  readonly nodes: readonly string[];
  readonly controllers: readonly string[];
  /** Parts of names that must all occur. */
  readonly words: readonly string[];
}

export const everything: Query = {
  kinds: [],
  names: [],
  namespace: "",
  types: [],
  reasons: [],
  nodes: [],
  controllers: [],
  words: [],
};

/** Resources of the release with their short names and singulars; others are known by `get` or a slash. */
const resources = new Map(
  `pods po pod|deployments deploy deployment|replicasets rs replicaset|statefulsets sts statefulset
daemonsets ds daemonset|jobs job|cronjobs cj cronjob|nodes no node|services svc service|endpoints ep
configmaps cm configmap|secrets secret|namespaces ns namespace|serviceaccounts sa serviceaccount
persistentvolumeclaims pvc|persistentvolumes pv|horizontalpodautoscalers hpa|ingresses ing ingress
poddisruptionbudgets pdb|leases lease|replicationcontrollers rc|endpointslices endpointslice`
    .split(/[|\n]/)
    .flatMap((line) => line.split(" ").map((name) => [name, line.split(" ")[0]!] as const)),
);

type ListField = "types" | "reasons" | "nodes" | "controllers";
const fields: Readonly<Record<string, ListField>> = {
  type: "types",
  types: "types",
  reason: "reasons",
  node: "nodes",
  controller: "controllers",
};

export function parseQuery(text: string): Query {
  const words = wordsOf(text);
  const query = {
    kinds: [] as string[],
    names: [] as string[],
    namespace: "",
    types: [] as string[],
    reasons: [] as string[],
    nodes: [] as string[],
    controllers: [] as string[],
    words: [] as string[],
  };
  let sure = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    const flag = /^(?:-n|--namespace)(?:=(.*))?$/.exec(word);
    const field = /^(?:--)?(\w+)[=:](.+)$/.exec(word);
    if (flag) query.namespace = flag[1] ?? words[++at] ?? "";
    else if (/^-n./.test(word)) query.namespace = word.slice(2);
    else if (word === "-A" || word === "--all-namespaces") query.namespace = "";
    else if (field && fields[field[1]!])
      query[fields[field[1]!]!].push(...listOf(field[2]!).map(capital(field[1]!)));
    else if (word === "get" || word === "describe") sure = true;
    else if (word === "events" || word === "ev") continue;
    else if (word.startsWith("-")) continue;
    else if (/^[\w.]+\/[^/]+$/.test(word)) {
      const [kind, name] = word.split("/") as [string, string];
      query.kinds.push(kindOf(kind));
      query.names.push(name);
    } else if (
      query.kinds.length === 0 &&
      (sure || listOf(word).every((each) => resources.has(each.toLowerCase())))
    )
      query.kinds.push(...listOf(word).map(kindOf));
    else if (query.kinds.length > 0) query.names.push(...listOf(word));
    else query.words.push(word);
  }
  return query;
}

const listOf = (text: string): string[] => text.split(",").filter((part) => part !== "");
const kindOf = (word: string): string => resources.get(word.toLowerCase()) ?? word;
/** `type=warning` means the type Warning. */
const capital =
  (field: string) =>
  (value: string): string =>
    field.startsWith("type") ? value.charAt(0).toUpperCase() + value.slice(1) : value;

/** Words between spaces; quotes keep spaces. */
function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((found) => found[1] ?? found[2] ?? found[3]!);
}

const quoted = (word: string): string => (/\s/.test(word) ? `"${word}"` : word);

/** The search that finds one object, or all of one namespace. */
export const queryFor = (object: { kind?: string; namespace?: string; name?: string }): string =>
  [
    object.kind && object.name ? `${object.kind.toLowerCase()}/${quoted(object.name)}` : "",
    object.namespace ? `-n ${quoted(object.namespace)}` : "",
  ]
    .filter((part) => part !== "")
    .join(" ");

/** The same search in another namespace. */
export function inNamespace(text: string, namespace: string): string {
  const rest = text
    .replaceAll(/(^|\s)(?:(?:-n|--namespace)(?:=|\s+)\S+|-A|--all-namespaces)(?=\s|$)/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return [rest, namespace === "" ? "" : `-n ${namespace}`].filter((part) => part !== "").join(" ");
}

/** The same search for warnings only, or for everything again. */
export function toggleWarnings(text: string): string {
  const isOn = parseQuery(text).types.length > 0;
  const rest = text
    .replaceAll(/(^|\s)(?:--)?types?[=:]\S+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return isOn ? rest : `${rest} type=Warning`.trim();
}
