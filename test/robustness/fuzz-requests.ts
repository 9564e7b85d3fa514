// Requests that no sane client would send, close enough to valid ones to pass the first checks.
import fc from "fast-check";
import { type Message, encodeEnvelope, protobufCodec } from "#schema";
import { arbitraryObject } from "../kit/arbitrary-object.ts";
import { headers, methods, names, namespaces, oddText, query } from "./fuzz-values.ts";

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string | string[]>;
  readonly body?: string | Uint8Array;
}

/** A resource as discovery lists it, with its schema and sample objects. */
export interface FuzzTarget {
  /** `/api/v1` or `/apis/group/version`. */
  readonly root: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly subresources: readonly string[];
  readonly schema?: Message | undefined;
  /** Objects that the server has accepted. */
  readonly good: readonly object[];
}

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e21,
    2 ** 53,
    "",
    "a",
    "5",
    "1Gi",
    "10%",
    "2030-01-01T00:00:00Z",
    "__proto__",
    [],
    {},
  ),
  fc.string({ maxLength: 6 }),
);
const nonsense = fc.oneof(leaf, fc.jsonValue({ maxDepth: 3 }));

/** A position in an object: each step selects one of the existing fields or items. */
const spot = fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 6 });
const change = fc.record({ spot, value: fc.option(nonsense, { nil: undefined, freq: 4 }) });

function changed(
  object: unknown,
  changes: readonly { readonly spot: readonly number[]; readonly value: unknown }[],
): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(object, plain) ?? "null");
  for (const { spot: steps, value } of changes) {
    let at = copy;
    for (const [index, step] of steps.entries()) {
      if (typeof at !== "object" || at === null) break;
      const keys = Object.keys(at);
      if (keys.length === 0) break;
      const key = keys[step % keys.length]!;
      const inner = (at as Record<string, unknown>)[key];
      if (index === steps.length - 1 || typeof inner !== "object" || inner === null) {
        if (value === undefined) delete (at as Record<string, unknown>)[key];
        else (at as Record<string, unknown>)[key] = value;
        break;
      }
      at = inner;
    }
  }
  return copy;
}

const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? Number(value) : value);

const pointer = fc.constantFrom(
  "",
  "/",
  "/metadata",
  "/metadata/labels",
  "/metadata/labels/a",
  "/metadata/name",
  "/spec",
  "/spec/containers/0",
  "/spec/containers/-",
  "/data/a",
  "/status",
  "/a~1b",
  "/~2",
  "metadata",
  "/metadata/annotations/x",
  "/__proto__/x",
  "/constructor/prototype/x",
  "/metadata/finalizers/99999999999",
);
const jsonPatch = fc.array(
  fc.oneof(
    fc.record(
      { op: fc.constantFrom("add", "remove", "replace", "test", "x"), path: pointer, value: nonsense },
      { requiredKeys: ["op", "path"] },
    ),
    fc.record(
      { op: fc.constantFrom("move", "copy"), path: pointer, from: pointer },
      { requiredKeys: ["op", "path"] },
    ),
  ),
  { maxLength: 4 },
);
const directives = fc.constantFrom<unknown>(
  { $patch: "replace" },
  { $patch: "delete" },
  { $patch: "x" },
  { metadata: { $patch: "delete" } },
  { metadata: { labels: { $patch: "replace", a: "b" } } },
  { metadata: { $retainKeys: ["name"], name: "a" } },
  { metadata: { "$deleteFromPrimitiveList/finalizers": ["x"] } },
  { metadata: { "$setElementOrder/ownerReferences": [{ uid: "a" }, {}] } },
  { spec: { containers: [{ name: "c", $patch: "delete" }, { $patch: "replace" }] } },
  { spec: { "$setElementOrder/containers": ["x"], containers: [{}] } },
  { spec: { containers: { a: "b" } } },
  { data: { a: null } },
);

/** Generates requests for the given resources, with bodies similar to objects of their kinds. */
export function fuzzRequests(
  targets: readonly FuzzTarget[],
  samplesPerKind: number,
  magic: Uint8Array,
): fc.Arbitrary<FuzzRequest> {
  const samples = new Map<FuzzTarget, readonly unknown[]>();
  const sampleOf = (target: FuzzTarget): fc.Arbitrary<unknown> => {
    if (!target.schema) return nonsense;
    let known = samples.get(target);
    if (!known)
      samples.set(
        target,
        (known = fc.sample(arbitraryObject(target.schema), { numRuns: samplesPerKind, seed: 7 })),
      );
    const random = fc.constantFrom(...known);
    return target.good.length === 0
      ? random
      : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...target.good) }, { weight: 1, arbitrary: random });
  };
  /** Generates an object of the kind, mostly with the name in the path. */
  const near = (target: FuzzTarget, pathName: string): fc.Arbitrary<unknown> =>
    fc
      .record({
        sample: sampleOf(target),
        name: fc.oneof({ weight: 8, arbitrary: fc.constant(pathName) }, { weight: 1, arbitrary: names }),
        namespace: namespaces,
        changes: fc.oneof(
          { weight: 1, arbitrary: fc.constant([]) },
          { weight: 2, arbitrary: fc.array(change, { maxLength: 3 }) },
        ),
        stranger: fc.nat({ max: 5 }),
      })
      .map(({ sample, name, namespace, changes, stranger }) => {
        const object = typeof sample === "object" && sample !== null ? sample : {};
        const { metadata } = object as { metadata?: object };
        // Random names and references are nearly always refused: most objects get minimal metadata.
        const meta =
          stranger === 0 ? { ...metadata, ...(target.namespaced && { namespace }) } : { labels: { a: "b" } };
        return changed(
          { ...object, kind: target.kind, apiVersion: target.apiVersion, metadata: { ...meta, name } },
          changes,
        );
      });
  const binary = (target: FuzzTarget, object: unknown): Uint8Array => {
    try {
      return encodeEnvelope(
        { apiVersion: target.apiVersion, kind: target.kind },
        protobufCodec(target.schema!).encode(object as never),
        magic,
      );
    } catch {
      return magic;
    }
  };
  const oddBody = (target: FuzzTarget, name: string): fc.Arbitrary<Sent> =>
    fc
      .oneof(
        { weight: 2, arbitrary: nonsense.map((value) => JSON.stringify(value)) },
        {
          weight: 3,
          arbitrary: fc
            .tuple(near(target, name), fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 3 }))
            .map(([object, flips]) => flipped(binary(target, object), flips)),
        },
        {
          weight: 1,
          arbitrary: fc
            .tuple(near(target, name), fc.nat())
            .map(([object, cut]) =>
              ((text) => text.slice(0, cut % (text.length + 1)))(JSON.stringify(object)),
            ),
        },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
        { weight: 1, arbitrary: oddTexts },
        { weight: 2, arbitrary: deleteOptions },
        { weight: 2, arbitrary: fc.constant(undefined) },
      )
      .map((body) => ({
        body,
        type: typeof body === "string" ? "application/json" : "application/vnd.orch.protobuf",
      }));
  const object = (target: FuzzTarget, name: string): fc.Arbitrary<Sent> =>
    near(target, name).map((value) => ({ body: JSON.stringify(value), type: "application/json" }));
  const patch = (target: FuzzTarget, name: string): fc.Arbitrary<Sent> =>
    fc.oneof(
      jsonPatch.map((value) => ({ body: JSON.stringify(value), type: "application/json-patch+json" })),
      fc
        .tuple(
          fc.oneof(directives, near(target, name)),
          fc.constantFrom("merge-patch+json", "strategic-merge-patch+json"),
        )
        .map(([value, type]) => ({ body: JSON.stringify(value), type: `application/${type}` })),
      near(target, name).map((value) => ({
        body: JSON.stringify(value),
        type: "application/apply-patch+yaml",
      })),
    );
  const pathOf = (target: FuzzTarget, named: boolean, name: string): fc.Arbitrary<string> =>
    fc
      .record({
        all: fc.boolean(),
        namespace: namespaces,
        subresource: fc.oneof(
          { weight: 6, arbitrary: fc.constant("") },
          {
            weight: 3,
            arbitrary:
              target.subresources.length > 0
                ? fc.constantFrom(...target.subresources)
                : fc.constant("status"),
          },
          { weight: 1, arbitrary: oddText },
        ),
        rest: fc.oneof({ weight: 40, arbitrary: fc.constant("") }, { weight: 1, arbitrary: oddText }),
        old: fc.nat({ max: 30 }),
      })
      .map(({ all, namespace, subresource, rest, old }) => {
        const place = target.namespaced && !(all && !named) ? `/namespaces/${namespace}` : "";
        const one = named ? `/${name}${subresource ? `/${subresource}` : ""}${rest ? `/${rest}` : ""}` : "";
        return `${target.root}${old === 0 ? "/watch" : ""}${place}/${target.plural}${one}`;
      });
  const elsewhere = fc.oneof(
    fc.constantFrom(
      "/",
      "/api",
      "/apis",
      "/api/",
      "/version",
      "/healthz",
      "/healthz/ping",
      "/livez",
      "/readyz",
      "/readyz/nosuch",
      "/openapi/v2",
      "/openapi/v3",
      "/openapi/v3/api/v1",
      "/openapi/v3/nosuch",
      "/metrics",
      "/logs",
      "/.well-known/openid-configuration",
      "/openid/v1/jwks",
      "/debug/pprof",
      "/debug/flags/v",
      "//",
      "/api/v1",
      "/apis/apps",
      "/apis/apps/v1",
      "/apis/nosuch/v1/things",
      "/api/v2/pods",
      "*",
      "",
      "relative",
      "/api/v1/namespaces//pods",
      "/api/v1/proxy/nodes/a",
      "/swagger.json",
    ),
    fc.array(oddText, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`),
    fc.array(oddText, { maxLength: 4 }).map((parts) => `/api/v1/${parts.join("/")}`),
    fc.array(oddText, { maxLength: 4 }).map((parts) => `/apis/${parts.join("/")}`),
  );
  const request = (target: FuzzTarget): fc.Arbitrary<FuzzRequest> =>
    fc
      .tuple(
        fc.oneof(
          { weight: 12, arbitrary: fc.constantFrom(...verbs) },
          { weight: 1, arbitrary: fc.tuple(methods, fc.boolean()) },
        ),
        names,
      )
      .chain(([[method, named], name]) =>
        fc.record({
          method: fc.constant(method),
          path: fc.oneof(
            { weight: 20, arbitrary: pathOf(target, named, name) },
            { weight: 1, arbitrary: elsewhere },
          ),
          query,
          headers,
          sent: fc.oneof(
            {
              weight: 6,
              arbitrary:
                method === "PATCH"
                  ? patch(target, name)
                  : method === "DELETE" || method === "GET"
                    ? fc.constant<Sent>({ body: undefined, type: "" })
                    : object(target, name),
            },
            { weight: 1, arbitrary: oddBody(target, name) },
          ),
          // Most requests declare their media type, or all would fail on it.
          says: fc.nat({ max: 9 }),
        }),
      )
      .map(({ method, path, query: search, headers: more, sent: { body, type }, says }) => ({
        method,
        path:
          path +
          (type === "application/apply-patch+yaml" && says < 8
            ? `${search}${search ? "&" : "?"}fieldManager=fuzz${says % 3}`
            : search),
        headers: { ...(says > 0 && body !== undefined && { "content-type": type }), ...more },
        ...(body !== undefined && { body }),
      }));
  const met = targets.filter(({ good }) => good.length > 0);
  return fc
    .oneof(
      { weight: 2, arbitrary: fc.constantFrom(...met) },
      { weight: 1, arbitrary: fc.constantFrom(...targets) },
    )
    .chain(request);
}

interface Sent {
  readonly body: string | Uint8Array | undefined;
  readonly type: string;
}

const oddTexts = fc.constantFrom(
  "a: b: c",
  "{a: 1, a: 2}",
  "&a [*a]",
  "!!binary x",
  "- 1\n- 2",
  "{".repeat(2000),
  "[".repeat(2000),
  '{"a":'.repeat(1500),
  "\ufeff{}",
  '{"metadata":{"name":"a"},"metadata":{"name":"b"}}',
  "---\nkind: Pod\n---\nkind: Pod",
);
const deleteOptions = fc.constantFrom(
  JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: -5 }),
  JSON.stringify({ preconditions: { uid: "x" } }),
  JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "x", dryRun: ["y"] }),
  JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Foreground" }),
);

/** Combinations of a method and whether the path names an object. */
const verbs = [
  ["GET", true],
  ["GET", false],
  ["POST", false],
  ["POST", false],
  ["PUT", true],
  ["PUT", true],
  ["PATCH", true],
  ["PATCH", true],
  ["PATCH", true],
  ["GET", false],
  ["GET", true],
  ["DELETE", true],
] as const;

function flipped(bytes: Uint8Array, flips: readonly (readonly [number, number])[]): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (const [at, value] of flips) if (copy.length > 0) copy[at % copy.length] = value;
  return copy;
}
