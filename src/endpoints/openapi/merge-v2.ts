// Merges the OpenAPI 2 documents of extension API servers into this server's: only the paths of their
// version, with their definitions. If a server describes more than its groups, only definitions referenced by
// these paths are taken. A definition that conflicts with an existing one is renamed.
import { isDeepStrictEqual } from "node:util";

type Json = Record<string, unknown>;

export interface RemotePart {
  /** `/apis/example.com/v1`. */
  readonly root: string;
  readonly document: Json;
}

const prefix = "#/definitions/";
const objectAt = (value: unknown, key: string): Json => {
  const found = typeof value === "object" && value !== null ? (value as Json)[key] : undefined;
  return typeof found === "object" && found !== null ? (found as Json) : {};
};

export function mergedV2(own: Json, remote: readonly RemotePart[]): Json {
  if (remote.length === 0) return own;
  const paths = { ...objectAt(own, "paths") };
  const definitions = { ...objectAt(own, "definitions") };
  for (const { root, document } of remote) {
    const described = Object.entries(objectAt(document, "paths"));
    const kept = described.filter(
      ([path]) => (path === root || path.startsWith(`${root}/`)) && !Object.hasOwn(paths, path),
    );
    const all = objectAt(document, "definitions");
    const used = described.every(([path]) => path.startsWith("/apis/"))
      ? new Map(Object.entries(all))
      : reachable(Object.fromEntries(kept), all);
    const names = new Map<string, string>();
    for (const [name, definition] of used) names.set(name, nameFor(name, definition, definitions));
    const renamed = (value: unknown): unknown => withNames(value, names);
    for (const [name, definition] of used) {
      const as = names.get(name)!;
      definitions[as] = withKindsOf(definitions[as] as Json | undefined, renamed(definition));
    }
    for (const [path, item] of kept) paths[path] = renamed(item);
  }
  return { ...own, paths: sorted(paths), definitions: sorted(definitions) };
}

const sorted = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Returns the name if it is free or its definition is equal, otherwise the next free one. */
function nameFor(name: string, definition: unknown, taken: Json): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}_v${number}`;
    if (!Object.hasOwn(taken, candidate) || meansTheSame(taken[candidate], definition)) return candidate;
  }
}

const isKindsKey = (key: string): boolean => key.endsWith("-group-version-kind");
const withoutKinds = (definition: unknown): unknown =>
  typeof definition === "object" && definition !== null
    ? Object.fromEntries(Object.entries(definition).filter(([key]) => !isKindsKey(key)))
    : definition;
const meansTheSame = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(withoutKinds(one), withoutKinds(other));

/** Merges a definition shared by kinds of several groups; the kinds are sorted by name. */
function withKindsOf(known: Json | undefined, added: unknown): unknown {
  const key = known && Object.keys(added as object).find(isKindsKey);
  if (!key) return known ?? added;
  const all = [known[key], (added as Json)[key]]
    .flatMap((kinds): unknown[] => (Array.isArray(kinds) ? kinds : []))
    .filter((kind): kind is Json => typeof kind === "object" && kind !== null);
  const byName = new Map(all.map((kind) => [nameOfKind(kind), kind]));
  return { ...known, [key]: [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind) };
}

const nameOfKind = ({ group, version, kind }: Json): string =>
  `${String(group)}/${String(version)}.${String(kind)}`;

/** Returns the definitions that a value references, directly or indirectly. */
function reachable(value: unknown, definitions: Json): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const waiting: unknown[] = [value];
  while (waiting.length > 0)
    for (const name of referencesIn(waiting.pop()))
      if (!found.has(name) && Object.hasOwn(definitions, name)) {
        found.set(name, definitions[name]);
        waiting.push(definitions[name]);
      }
  return found;
}

function referencesIn(value: unknown): Set<string> {
  const names = new Set<string>();
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inner] of Object.entries(next))
      if (key === "$ref" && typeof inner === "string") {
        if (inner.startsWith(prefix)) names.add(inner.slice(prefix.length));
      } else waiting.push(inner);
  }
  return names;
}

function withNames(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withNames(item, names));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => {
      const name = key === "$ref" && typeof inner === "string" ? inner.slice(prefix.length) : undefined;
      const other = name === undefined ? undefined : names.get(name);
      return [key, other === undefined ? withNames(inner, names) : prefix + other];
    }),
  );
}
