// Valid and invalid values for fuzzed requests: methods, names, selectors, parameters and headers.
import fc from "fast-check";

export const methods = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "HEAD",
      "OPTIONS",
      "TRACE",
      "CONNECT",
      "get",
      "PROPFIND",
      "",
      "G E T",
      "constructor",
      "__proto__",
    ),
  },
);
export const oddText = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "b",
    "default",
    "..",
    ".",
    "/",
    "%2F",
    "%00",
    "%zz",
    "%",
    "a%2Fb",
    "__proto__",
    "constructor",
    "toString",
    "ä",
    "\u0000",
    "*",
    "a b",
    "-",
    "A",
    "0",
    "-1",
    "1e3",
    "null",
    "true",
    "undefined",
    "x".repeat(300),
  ),
  fc.string({ maxLength: 8 }),
  fc.string({ unit: "grapheme", maxLength: 6 }),
);
export const names = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "a", "b", "c", "thing") },
  { weight: 1, arbitrary: oddText },
);
export const namespaces = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("default", "default", "other") },
  { weight: 1, arbitrary: oddText },
);

const revisions = fc.constantFrom(
  "",
  "0",
  "1",
  "2",
  "50",
  "99999999",
  "9007199254740993",
  "18446744073709551615",
  "-1",
  "x",
  "1.5",
  " 1",
  "0x10",
  "00",
);
const selectors = fc.oneof(
  fc.constantFrom(
    "a=b",
    "a",
    "!a",
    "a!=b",
    "a in (b,c)",
    "a notin ()",
    "a>1",
    "a<x",
    "a in (",
    ",",
    "a=b,",
    "=",
    "a==",
    "a=b=c",
    "a/b/c=d",
    "metadata.name=a",
    "metadata.namespace!=default",
    "spec.nodeName=",
    "involvedObject.kind=Pod,reason=x",
    "type=Normal",
    "a\\=b=c",
    "\\",
    "status.phase=Running",
    "nosuch=1",
  ),
  fc.string({ maxLength: 10 }),
);
const parameters: Readonly<Record<string, fc.Arbitrary<string>>> = {
  watch: fc.constantFrom("true", "1", "false", "0", "", "x"),
  limit: fc.constantFrom("1", "0", "-1", "500", "999999999999999999999", "x", ""),
  continue: fc.constantFrom(
    "",
    "x",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0",
    ...["meta/v1", "meta.k8s.io/v1"].flatMap((v) =>
      [1, -1, 0, 2 ** 60, 1.5, "x"].flatMap((rv) =>
        ["a", "default/a\0", "../../x", "", "/"].map((start) =>
          Buffer.from(JSON.stringify({ v, rv, start })).toString("base64url"),
        ),
      ),
    ),
  ),
  resourceVersion: revisions,
  resourceVersionMatch: fc.constantFrom("Exact", "NotOlderThan", "", "x"),
  labelSelector: selectors,
  fieldSelector: selectors,
  allowWatchBookmarks: fc.constantFrom("true", "x", ""),
  sendInitialEvents: fc.constantFrom("true", "false", "x", ""),
  timeoutSeconds: fc.constantFrom("1", "0", "-1", "99999999999999999999", "x"),
  timeout: fc.constantFrom("1s", "0", "-1s", "x", "1h1m", "999999h", "."),
  dryRun: fc.constantFrom("All", "", "x"),
  fieldManager: fc.oneof(
    fc.constantFrom("me", "", "x".repeat(200), "a\nb", "\u0000"),
    fc.string({ unit: "grapheme", maxLength: 5 }),
  ),
  fieldValidation: fc.constantFrom("Strict", "Warn", "Ignore", "", "x"),
  force: fc.constantFrom("true", "false", "", "x"),
  gracePeriodSeconds: fc.constantFrom("0", "30", "-1", "x", "99999999999999999999"),
  propagationPolicy: fc.constantFrom("Orphan", "Background", "Foreground", "", "x"),
  orphanDependents: fc.constantFrom("true", "x"),
  pretty: fc.constantFrom("true", "1", "false", "x", ""),
  includeObject: fc.constantFrom("None", "Metadata", "Object", "x", ""),
  verbose: fc.constantFrom("", "true"),
  exclude: fc.constantFrom("", "ping", "x"),
  command: oddText,
  container: oddText,
  path: oddText,
};
const parameter = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .constantFrom(...Object.keys(parameters))
      .chain((name) => parameters[name]!.map((value) => `${name}=${encodeURIComponent(value)}`)),
  },
  { weight: 1, arbitrary: fc.tuple(oddText, oddText).map(([name, value]) => `${name}=${value}`) },
);
export const query = fc
  .oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(parameter, { maxLength: 3 }) },
  )
  .map((parts) => (parts.length === 0 ? "" : `?${parts.join("&")}`));

const mediaTypes = [
  "application/json",
  "application/yaml",
  "application/vnd.orch.protobuf",
  "application/vnd.kubernetes.protobuf",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "text/plain",
  "*/*",
  "application/*",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=Table;v=v1;g=meta.orch.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.orch.io",
  "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
  "application/json;stream=watch",
  "application/json;q=0.5,application/yaml;q=0.9",
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  "application/json;charset=utf-16",
  "",
  ";",
  "a/b/c",
  "application/json;q=x",
];
const header = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constant("accept"), fc.constantFrom(...mediaTypes)) },
  { weight: 6, arbitrary: fc.tuple(fc.constant("content-type"), fc.constantFrom(...mediaTypes)) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom(
        "user-agent",
        "impersonate-user",
        "impersonate-group",
        "impersonate-uid",
        "impersonate-extra-a",
        "impersonate-extra-%zz",
        "if-none-match",
        "accept-encoding",
        "audit-id",
        "authorization",
        "origin",
        "upgrade",
        "connection",
        "content-encoding",
        "x-forwarded-for",
        "x-remote-user",
      ),
      oddText,
    ),
  },
);
export const headers = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Record<string, string>>({}) },
  {
    weight: 1,
    arbitrary: fc
      .array(header, { maxLength: 3 })
      .map((list) => Object.fromEntries(list) as Record<string, string>),
  },
);
