import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { ask, must } = await serve();
const path = "/api/v1/namespaces/default/configmaps";
await must(201, "POST", path, { body: { metadata: { name: "a", labels: { x: "1" } } } });

const lists: [query: string, status: number, message?: RegExp | undefined, causes?: string[]][] = [
  ["limit=1", 200],
  ["limit=0", 200],
  ["limit=-1", 200],
  ["limit=9223372036854775807", 200],
  ["limit=%2B5", 200],
  ["limit=", 400, /^strconv.ParseInt: parsing "": invalid syntax$/],
  ["limit=1.5", 400, /parsing "1.5": invalid syntax/],
  ["limit=many", 400, /parsing "many": invalid syntax/],
  ["limit=99999999999999999999", 400, /value out of range/],
  ["limit=9223372036854775808", 400, /value out of range/],
  ["limit=1&limit=many", 200],
  ["limit=many&timeoutSeconds=soon", 400, /parsing "soon": invalid syntax/],
  ["timeoutSeconds=-1", 200],
  ["resourceVersion=0", 200],
  [
    "resourceVersion=-1",
    400,
    /resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid/,
  ],
  ["resourceVersion=x", 400, /^invalid resource version: resourceVersion: Invalid value: "x"/],
  ["resourceVersion=x&continue=x", 400, /^invalid resource version: /],
  ["resourceVersion=1e3", 400, /invalid syntax/],
  ["resourceVersion=18446744073709551616", 400, /value out of range/],
  ["resourceVersionMatch=Exact", 422, undefined, ["Forbidden resourceVersionMatch"]],
  ["resourceVersion=1&resourceVersionMatch=Newest", 422, undefined, ["NotSupported resourceVersionMatch"]],
  ["resourceVersion=0&resourceVersionMatch=Exact", 422, undefined, ["Forbidden resourceVersionMatch"]],
  ["resourceVersion=0&resourceVersionMatch=NotOlderThan", 200],
  ["resourceVersion=1&resourceVersionMatch=NotOlderThan", 200],
  [
    "resourceVersion=1&resourceVersionMatch=Exact&continue=x",
    422,
    undefined,
    ["Forbidden resourceVersionMatch"],
  ],
  ["sendInitialEvents=true", 422, undefined, ["Forbidden sendInitialEvents"]],
  ["continue=x", 400, /continue key is not valid: illegal base64 data at input byte 0/],
  [
    "continue=xx",
    400,
    /continue key is not valid: invalid character '\u00c7' looking for beginning of value/,
  ],
  ["labelSelector=x%3D1,!y,z%20notin%20(a,b)", 200],
  ["labelSelector=x%3D1,", 400, /expected: identifier after/],
  ["labelSelector=a%20b", 400, /unable to parse/],
  ["labelSelector=-", 400, /^unable to parse requirement: <nil>: Invalid value: "-": name part must consist/],
  [
    "labelSelector=x%3D-",
    400,
    /^unable to parse requirement: values\[0]\[x]: Invalid value: "-": a valid label must/,
  ],
  ["labelSelector=x%3E1,x%3C5", 200],
  ["labelSelector=x%3Ea", 400, /must be an integer/],
  ["fieldSelector=metadata.name%3Da", 200],
  ["fieldSelector=metadata.name!%3Da,metadata.namespace%3Ddefault", 200],
  ["fieldSelector=data.x%3D1", 400, /is not a known field selector/],
  ["fieldSelector=metadata.labels%3D1", 400, /is not a known field selector/],
  ["fieldSelector=constructor%3D1", 400, /is not a known field selector/],
  ["fieldSelector=__proto__%3D1", 400, /is not a known field selector/],
  ["fieldSelector=nonsense", 400, /invalid selector/],
  ["fieldSelector=", 200],
  ["fieldSelector=%3D", 200],
  ["labelSelector=a%20in%20b&resourceVersionMatch=Exact", 400, /unable to parse/],
  ["fieldSelector=data.x%3D1&resourceVersionMatch=Exact", 422, undefined, ["Forbidden resourceVersionMatch"]],
  ["labelSelector=", 200],
  ["pretty=true", 200],
  ["pretty=maybe", 200],
  ["unheard=of", 200],
  ["%zz=%zz", 200],
];
for (const [query, status, message, causes] of lists) {
  test(`a list with ${query} answers ${status}`, async () => {
    const answer = await must(status, "GET", `${path}?${query}`);
    if (message) assert.match(String(answer.at("message")), message);
    if (causes) assert.deepEqual(answer.causes, causes);
  });
}

test("a selector of the maximum URL size is parsed", async () => {
  const selector = Array.from({ length: 2000 }, (_each, i) => `k${i}!=v`).join(",");
  const { json } = await must(200, "GET", `${path}?labelSelector=${encodeURIComponent(selector)}`);
  assert.equal((json["items"] as unknown[]).length, 1);
  await must(
    200,
    "GET",
    `${path}?fieldSelector=${encodeURIComponent(Array.from({ length: 2000 }, () => "metadata.name!=v").join(","))}`,
  );
  await must(400, "GET", `${path}?labelSelector=${"(".repeat(30_000)}`);
  await must(200, "GET", `${path}?labelSelector=${encodeURIComponent(`x in (${"a,".repeat(10_000)}1)`)}`);
});

test("the first value of a repeated parameter is used", async () => {
  const { json } = await must(200, "GET", `${path}?labelSelector=x%3D2&labelSelector=x%3D1`);
  assert.deepEqual(json["items"], []);
});

const watches: [query: string, status: number, causes?: string[]][] = [
  ["timeoutSeconds=1", 200],
  ["resourceVersion=x", 400],
  ["resourceVersionMatch=NotOlderThan", 422, ["Forbidden resourceVersionMatch"]],
  ["sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 422, ["Forbidden sendInitialEvents"]],
  ["sendInitialEvents=true", 422, ["Forbidden resourceVersionMatch", "Forbidden sendInitialEvents"]],
  ["labelSelector=%21", 400],
];
for (const [query, status, causes] of watches) {
  test(`a watch with ${query} begins with ${status}`, async () => {
    if (status === 200) return;
    const answer = await must(status, "GET", `${path}?watch=1&${query}`);
    if (causes) assert.deepEqual(answer.causes, causes);
  });
}

test("the options of a watch are validated before its media type", async () => {
  const watched = (query: string) => ask("GET", `${path}?watch=1&${query}`, { accept: "application/yaml" });
  assert.equal((await watched("limit=many")).status, 400);
  assert.equal((await watched("resourceVersion=x")).status, 400);
  assert.equal((await watched("limit=1")).status, 406);
});

const writes: [query: string, status: number, causes?: string[]][] = [
  ["dryRun=All", 201],
  ["dryRun=All&dryRun=All", 201],
  ["dryRun=Some", 422, ["NotSupported dryRun"]],
  ["dryRun=", 422, ["NotSupported dryRun"]],
  ["dryRun=All&fieldManager=me", 201],
  [`dryRun=All&fieldManager=${"m".repeat(128)}`, 201],
  [`fieldManager=${"m".repeat(129)}`, 422, ["TooLong fieldManager"]],
  ["fieldManager=a%0Ab", 422, ["Invalid fieldManager"]],
  ["dryRun=All&fieldManager=%C3%BC%20x", 201],
  ["dryRun=All&fieldValidation=Ignore", 201],
  ["fieldValidation=Loose", 422, ["NotSupported fieldValidation"]],
  ["dryRun=Some&fieldValidation=Loose", 422, ["NotSupported dryRun", "NotSupported fieldValidation"]],
];
for (const [query, status, causes] of writes) {
  test(`a creation with ${query.slice(0, 60)} answers ${status}`, async () => {
    const answer = await must(status, "POST", `${path}?${query}`, { body: { metadata: { name: "b" } } });
    if (causes) assert.deepEqual(answer.causes, causes);
    await must(404, "GET", `${path}/b`);
  });
}

const patches: [query: string, type: string, status: number, causes?: string[]][] = [
  ["force=true", "application/merge-patch+json", 422, ["Forbidden force"]],
  ["force=false", "application/merge-patch+json", 422, ["Forbidden force"]],
  ["", "application/apply-patch+yaml", 422, ["Required fieldManager"]],
  ["", "application/merge-patch+json", 200],
];
for (const [query, type, status, causes] of patches) {
  test(`a patch of ${type} with "${query}" answers ${status}`, async () => {
    const answer = await must(status, "PATCH", `${path}/a?${query}`, { type, body: {} });
    if (causes) assert.deepEqual(answer.causes, causes);
  });
}

const deletes: [query: string, status: number, message?: RegExp][] = [
  ["dryRun=All&gracePeriodSeconds=5&propagationPolicy=Background", 200],
  ["dryRun=All&gracePeriodSeconds=-5", 200],
  ["gracePeriodSeconds=soon", 400, /parsing "soon": invalid syntax/],
  ["propagationPolicy=Sideways", 422, /propagationPolicy/],
  ["propagationPolicy=", 422, /propagationPolicy/],
  ["dryRun=Some", 422, /dryRun/],
  ["orphanDependents=true&propagationPolicy=Orphan", 422, /orphanDependents/],
];
for (const [query, status, message] of deletes) {
  test(`a deletion with ${query} answers ${status}, and nothing is deleted`, async () => {
    const answer = await ask("DELETE", `${path}/a?${query}`);
    assert.equal(answer.status, status, answer.text);
    if (message) assert.match(String(answer.at("message")), message);
    await must(200, "GET", `${path}/a`);
  });
}

test("the field manager of a write is its parameter, or else the start of the user agent", async () => {
  const managers = async (query: string, agent: string): Promise<unknown> =>
    (
      await must(201, "POST", `${path}?dryRun=All${query}`, {
        body: { metadata: { name: "b" }, data: { x: "" } },
        headers: { "user-agent": agent },
      })
    ).at("metadata.managedFields.0.manager");
  assert.equal(await managers("&fieldManager=me", "tool/1.0 (linux)"), "me");
  assert.equal(await managers("", "tool/1.0 (linux)"), "tool");
  assert.equal(await managers("", "Mozilla"), "Mozilla");
  assert.equal(await managers("", "x".repeat(200)), "x".repeat(128));
});
