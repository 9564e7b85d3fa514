// Parses the search box. The syntax follows the command-line client: `deploy/web -n shop`, `get pods -A`,
// `events --for pod/web --types=Warning`; other words match parts of names.
import { parseSpan } from "../view/time.ts";

export interface Query {
  /** Kinds, resources or short names, as accepted by the server. */
  readonly kinds: readonly string[];
  readonly names: readonly string[];
  /** Empty for all. */
  readonly namespace: string;
  readonly types: readonly string[];
  readonly reasons: readonly string[];
  readonly nodes: readonly string[];
  readonly controllers: readonly string[];
  /** A label selector, such as `app=web`; empty matches any. */
  readonly labels: string;
  /** Parts of names, all of which must match. */
  readonly words: readonly string[];
  /** Flags with a meaning that the page does not support. */
  readonly unused: readonly string[];
}

/**
 * Resources of this release with their short names and singulars; others are recognized after `get` or before
 * a slash.
 */
const resources = new Map(
  `pods po pod|deployments deploy deployment|replicasets rs replicaset|statefulsets sts statefulset
daemonsets ds daemonset|jobs job|cronjobs cj cronjob|nodes no node|services svc service|endpoints ep
configmaps cm configmap|secrets secret|namespaces ns namespace|serviceaccounts sa serviceaccount
persistentvolumeclaims pvc|persistentvolumes pv|horizontalpodautoscalers hpa|ingresses ing ingress
poddisruptionbudgets pdb|leases lease|replicationcontrollers rc|endpointslices endpointslice`
    .split(/[|\n]/)
    .flatMap((line) => line.split(" ").map((name) => [name, line.split(" ")[0]!] as const)),
);

type ListField = "kinds" | "names" | "types" | "reasons" | "nodes" | "controllers";

/** Names of search fields: after `--`, before `=`, and in a field selector. */
const fields: ReadonlyMap<string, ListField> = new Map([
  ["type", "types"],
  ["types", "types"],
  ["reason", "reasons"],
  ["node", "nodes"],
  ["controller", "controllers"],
  ["source", "controllers"],
  ["reportingComponent", "controllers"],
  ["reportingController", "controllers"],
  ["involvedObject.kind", "kinds"],
  ["involvedObject.name", "names"],
  ["regarding.kind", "kinds"],
  ["regarding.name", "names"],
]);
const namespaceFields = new Set(["metadata.namespace", "involvedObject.namespace", "regarding.namespace"]);

/** Flags that only affect printing or watching, which the page handles itself. */
const printingFlags = new Set(
  "-o --output --sort-by -w --watch --watch-only -f --follow --no-headers --show-labels --show-events".split(
    " ",
  ),
);
/** Flags whose value may be the next word. */
const flagsWithValue = new Set(
  "-n --namespace --for --types --type --reason --node --controller --field-selector -o --output --sort-by -l --selector -c --container --tail --context".split(
    " ",
  ),
);
const clientName = /^(?:k|k\w+ctl|orch)$/;

interface Draft extends Record<ListField, string[]> {
  namespace: string;
  labels: string;
  words: string[];
  unused: string[];
}

const draft = (): Draft => ({
  kinds: [],
  names: [],
  namespace: "",
  types: [],
  reasons: [],
  nodes: [],
  controllers: [],
  labels: "",
  words: [],
  unused: [],
});

/** An empty search. */
export const everything: Query = draft();

export function parseQuery(text: string): Query {
  const words = splitWords(text);
  const query = draft();
  let verb = "";
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    const field = /^([\w.]+)[=:](.+)$/.exec(word);
    if (word.startsWith("-")) {
      const [flag, value] = flagOf(word);
      const hasNext = value === undefined && flagsWithValue.has(flag);
      addFlag(query, flag, value ?? (hasNext ? words[++at] : undefined));
    } else if (field && addField(query, field[1]!, field[2]!)) continue;
    else if (field && word.includes("=")) query.unused.push(word);
    else if (at === 0 && words.length > 1 && clientName.test(word)) continue;
    else if (["get", "describe", "logs"].includes(word)) verb = word;
    else if (word === "events" || word === "ev") continue;
    else addWord(query, word, verb);
  }
  return query;
}

/** Splits `--flag=value` and `-nvalue`; otherwise the value may be the next word. */
function flagOf(word: string): readonly [flag: string, value?: string] {
  const long = /^(--[\w-]+|-\w)=(.*)$/s.exec(word);
  if (long) return [long[1]!, long[2]!];
  return /^-[nl]./.test(word) ? [word.slice(0, 2), word.slice(2)] : [word];
}

function addFlag(query: Draft, flag: string, value: string | undefined): void {
  const unused = (): void => void query.unused.push(value === undefined ? flag : `${flag} ${value}`);
  if (flag === "-n" || flag === "--namespace") query.namespace = value ?? "";
  else if (flag === "-A" || flag === "--all-namespaces") query.namespace = "";
  else if ((flag === "-l" || flag === "--selector") && value !== undefined) query.labels = value;
  else if (flag === "--for" && value !== undefined) addWord(query, value, "get");
  else if (flag === "--field-selector" && value !== undefined)
    for (const term of listOf(value)) {
      const [, name = "", wanted = ""] = /^([\w.]+)==?([^=].*)$/.exec(term) ?? [];
      if (!addField(query, name, wanted)) query.unused.push(`${flag} ${term}`);
    }
  else if (printingFlags.has(flag)) return;
  else if (value === undefined || !addField(query, flag.replace(/^--/, ""), value)) unused();
}

/** Adds a field; reports whether it exists. */
function addField(query: Draft, name: string, value: string): boolean {
  const field = fields.get(name);
  if (namespaceFields.has(name)) query.namespace = value;
  else if (field === "kinds") query.kinds.push(...listOf(value).map(kindOf));
  else if (field) query[field].push(...listOf(value).map(field === "types" ? capital : String));
  return field !== undefined || namespaceFields.has(name);
}

function addWord(query: Draft, word: string, verb: string): void {
  if (/^[\w.]+\/[^/]+$/.test(word)) {
    const [kind, name] = word.split("/") as [string, string];
    query.kinds.push(kindOf(kind));
    query.names.push(name);
  } else if (query.kinds.length > 0) query.names.push(...listOf(word));
  else if (verb === "logs") {
    query.kinds.push("pods");
    query.names.push(word);
  } else if (verb !== "" || listOf(word).every((each) => resources.has(each.toLowerCase())))
    query.kinds.push(...listOf(word).map(kindOf));
  else query.words.push(word);
}

const listOf = (text: string): string[] => text.split(",").filter((part) => part !== "");
const kindOf = (word: string): string => resources.get(word.toLowerCase()) ?? word;
/** Capitalizes a value: `type=warning` means the type Warning. */
const capital = (value: string): string => value.charAt(0).toUpperCase() + value.slice(1);

/** Splits a text into words at spaces outside of quotes. */
function splitWords(text: string): readonly string[] {
  return (text.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? []).map((word) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  );
}

const quoted = (word: string): string => (/\s/.test(word) ? `"${word}"` : word);

/** Returns the search without `--since`, and the requested span in milliseconds. */
export function takeSince(text: string): { readonly search: string; readonly span: number | undefined } {
  const [whole = "", given = ""] = /(?:^|\s)--since(?:=|\s+)(\S+)/.exec(text) ?? [];
  const span = parseSpan(given);
  return { search: span ? text.replace(whole, "").trim() : text, span: span || undefined };
}

/** Returns a search for one object, or for all of one namespace. */
export const queryFor = (object: { kind?: string; namespace?: string; name?: string }): string =>
  [
    object.kind && object.name ? `${object.kind.toLowerCase()}/${quoted(object.name)}` : "",
    object.namespace ? `-n ${quoted(object.namespace)}` : "",
  ]
    .filter((part) => part !== "")
    .join(" ");

/** Returns the same search in another namespace. */
export function inNamespace(text: string, namespace: string): string {
  const rest = text
    .replaceAll(/(^|\s)(?:(?:-n|--namespace)(?:=|\s+)\S+|-A|--all-namespaces)(?=\s|$)/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return [rest, namespace === "" ? "" : `-n ${namespace}`].filter((part) => part !== "").join(" ");
}

/** Returns the same search with the filter for warnings toggled. */
export function toggleWarnings(text: string): string {
  const isOn = parseQuery(text).types.length > 0;
  const rest = text
    .replaceAll(/(^|\s)(?:(?:--)?types?[=:]\S+|--types?\s+\S+)/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return isOn ? rest : `${rest} type=Warning`.trim();
}
