import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { dialects } from "#dialect";
import { MemoryStore } from "#store";
import { type Json, at, coreEvent, each, newEvent, serve } from "../../server.fixture.ts";
import { startServer } from "../../library.ts";
import { settingsFor } from "../../library/settings.ts";
import { start } from "../../server.ts";

const { ask, must, place } = await serve();
const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

async function filled(count: number): Promise<string> {
  const namespace = await place();
  for (let i = 0; i < count; i++)
    await must(201, "POST", maps(namespace), {
      body: { metadata: { name: `m${i}`, labels: { parity: String(i % 2), n: String(i) } } },
    });
  return namespace;
}
const names = (json: Json): unknown[] => each(json["items"], "metadata.name");

test("lists are complete without APIListChunking, and pages have no remaining count without RemainingItemCount", async () => {
  for (const [gate, count, remaining] of [
    ["APIListChunking", 3, undefined],
    ["RemainingItemCount", 2, undefined],
  ] as const) {
    const { must: demand, place: placed } = await serve({ flags: [`--feature-gates=${gate}=false`] });
    const path = maps(await placed());
    for (const name of ["a", "b", "c"]) await demand(201, "POST", path, { body: { metadata: { name } } });
    const page = await demand(200, "GET", `${path}?limit=2&continue=${count === 3 ? "junk" : ""}`);
    assert.equal(names(page.json).length, count);
    assert.equal(page.at("metadata.remainingItemCount"), remaining);
    assert.equal(page.at("metadata.continue") === undefined, count === 3);
  }
});

test("the pages add up to the list, and each has the remaining count", async () => {
  const path = maps(await filled(5));
  const whole = await must(200, "GET", path);
  const pages: unknown[][] = [];
  const remaining: unknown[] = [];
  let token = "";
  do {
    const page = await must(200, "GET", `${path}?limit=2&continue=${token}`);
    pages.push(names(page.json));
    remaining.push(page.at("metadata.remainingItemCount"));
    assert.equal(page.at("metadata.resourceVersion"), whole.at("metadata.resourceVersion"));
    token = String(page.at("metadata.continue") ?? "");
  } while (token);
  assert.deepEqual(pages, [["m0", "m1"], ["m2", "m3"], ["m4"]]);
  assert.deepEqual(remaining, [3, 1, undefined]);
});

test("pages show a consistent state despite writes between them", async () => {
  const path = maps(await filled(4));
  const first = await must(200, "GET", `${path}?limit=2`);
  await must(201, "POST", path, { body: { metadata: { name: "m25" } } });
  await must(200, "DELETE", `${path}/m3`);
  await must(200, "PATCH", `${path}/m2`, {
    type: "application/merge-patch+json",
    body: { data: { changed: "yes" } },
  });
  const second = await must(200, "GET", `${path}?limit=2&continue=${first.at("metadata.continue")}`);
  assert.deepEqual(names(second.json), ["m2", "m3"]);
  assert.equal(second.at("items.0.data"), undefined);
  assert.equal(second.at("metadata.resourceVersion"), first.at("metadata.resourceVersion"));
  assert.deepEqual(names((await must(200, "GET", path)).json), ["m0", "m1", "m2", "m25"]);
});

test("pages of a selection have no remaining count", async () => {
  const path = maps(await filled(6));
  const first = await must(200, "GET", `${path}?limit=2&labelSelector=parity%3D1`);
  assert.deepEqual([names(first.json), first.at("metadata.remainingItemCount")], [["m1", "m3"], undefined]);
  const second = await must(
    200,
    "GET",
    `${path}?limit=2&labelSelector=parity%3D1&continue=${first.at("metadata.continue")}`,
  );
  assert.deepEqual(names(second.json), ["m5"]);
});

test("a continue token outlives the deletion of its object", async () => {
  const path = maps(await filled(3));
  const first = await must(200, "GET", `${path}?limit=1`);
  await must(200, "DELETE", `${path}/m0`);
  await must(200, "DELETE", `${path}/m1`);
  assert.deepEqual(
    names((await must(200, "GET", `${path}?continue=${first.at("metadata.continue")}`)).json),
    ["m1", "m2"],
  );
});

test("a continue token cannot be combined with a resource version other than zero", async () => {
  const path = maps(await filled(2));
  const token = String((await must(200, "GET", `${path}?limit=1`)).at("metadata.continue"));
  await must(400, "GET", `${path}?limit=1&continue=${token}&resourceVersion=1`);
  assert.deepEqual(
    names((await must(200, "GET", `${path}?limit=1&continue=${token}&resourceVersion=0`)).json),
    ["m1"],
  );
});

const token = (rv: number, start: string): string =>
  Buffer.from(JSON.stringify({ v: "meta/v1", rv, start })).toString("base64url");
const limits: [name: string, query: string, expected: string[]][] = [
  ["a limit beyond the end", "limit=1000000", ["m0", "m1", "m2"]],
  ["a limit at the end", "limit=3", ["m0", "m1", "m2"]],
  ["no limit", "limit=0", ["m0", "m1", "m2"]],
  ["a negative limit", "limit=-5", ["m0", "m1", "m2"]],
  ["a limit that resourceVersion=0 ignores", "limit=1&resourceVersion=0", ["m0", "m1", "m2"]],
  ["one by name", "fieldSelector=metadata.name%3Dm1", ["m1"]],
  ["all but one", "fieldSelector=metadata.name!%3Dm1", ["m0", "m2"]],
  ["by several labels", "labelSelector=parity%3D0,n%20in%20(1,2)", ["m2"]],
  ["by a label that is there", "labelSelector=n", ["m0", "m1", "m2"]],
  ["by a label that is not", "labelSelector=!n", []],
  ["by a larger label", "labelSelector=n%3E0", ["m1", "m2"]],
  ["by label and field", "labelSelector=parity%3D0&fieldSelector=metadata.name!%3Dm0", ["m2"]],
  ["in another namespace by field", "fieldSelector=metadata.namespace%3Dother", []],
];
for (const [name, query, expected] of limits) {
  test(`a list with ${name}`, async () => {
    const namespace = await filled(3);
    const answer = await must(200, "GET", `${maps(namespace)}?${query}`);
    assert.deepEqual([names(answer.json), answer.at("metadata.continue")], [expected, undefined]);
  });
}

test("a list at a version shows exactly that version, or one not older", async () => {
  const path = maps(await filled(1));
  const before = String((await must(200, "GET", path)).at("metadata.resourceVersion"));
  await must(201, "POST", path, { body: { metadata: { name: "later" } } });
  const exact = await must(200, "GET", `${path}?resourceVersion=${before}&resourceVersionMatch=Exact`);
  assert.deepEqual([names(exact.json), exact.at("metadata.resourceVersion")], [["m0"], before]);
  for (const match of ["", "&resourceVersionMatch=NotOlderThan"]) {
    assert.deepEqual(names((await must(200, "GET", `${path}?resourceVersion=${before}${match}`)).json), [
      "later",
      "m0",
    ]);
  }
  const paged = await must(200, "GET", `${path}?resourceVersion=${before}&limit=5`);
  assert.deepEqual(names(paged.json), ["m0"], "a limit makes a version exact");
});

test("lists at an exact version are the same during concurrent writes", async () => {
  const path = maps(await filled(20));
  const version = (await must(200, "GET", path)).at("metadata.resourceVersion");
  const expected = (await must(200, "GET", `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`))
    .text;
  const writers = Array.from({ length: 40 }, (_each, i) =>
    i % 2
      ? ask("DELETE", `${path}/m${i >> 1}`)
      : ask("PATCH", `${path}/m${19 - (i >> 1)}`, {
          type: "application/merge-patch+json",
          body: { data: { i: String(i) } },
        }),
  );
  const readers = Array.from({ length: 20 }, () =>
    must(200, "GET", `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`),
  );
  for (const { text } of await Promise.all(readers)) assert.equal(text, expected);
  await Promise.all(writers);
  assert.equal(
    (await must(200, "GET", `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`)).text,
    expected,
  );
});

test("a get accepts a resource version, too", async () => {
  const path = maps(await filled(1));
  const version = (await must(200, "GET", path)).at("metadata.resourceVersion");
  for (const query of ["", "resourceVersion=0", "resourceVersion=", `resourceVersion=${version}`])
    await must(200, "GET", `${path}/m0?${query}`);
  await must(400, "GET", `${path}/m0?resourceVersion=x`);
  await must(404, "GET", `${path}/none?resourceVersion=0`);
});

test("objects of all namespaces are listed in the order of the namespaces", async () => {
  const [a, b] = [await filled(1), await filled(1)];
  const { json } = await must(200, "GET", "/api/v1/configmaps?labelSelector=n");
  const found = each(json["items"], "metadata.namespace") as string[];
  assert.ok(found.includes(a) && found.includes(b));
  assert.deepEqual(found, found.toSorted());
});

test("a list of a namespace excludes namespaces that share its prefix", async () => {
  for (const name of ["prefix", "prefix-2"]) {
    await must(201, "POST", "/api/v1/namespaces", { body: { metadata: { name } } });
    await must(201, "POST", maps(name), { body: { metadata: { name: "x" } } });
  }
  assert.equal(((await must(200, "GET", maps("prefix"))).json["items"] as unknown[]).length, 1);
});

test("unusual names are distinct, and invalid ones rejected", async () => {
  const path = `/api/v1/namespaces/${await place()}/events`;
  const odd = ["a.b", "A", "a b", "ä", "a\u0001", "x".repeat(300)];
  for (const name of odd)
    await must(201, "POST", path, {
      body: { metadata: { name }, involvedObject: { namespace: path.split("/")[4] } },
    });
  for (const name of odd)
    assert.equal((await must(200, "GET", `${path}/${encodeURIComponent(name)}`)).at("metadata.name"), name);
  for (const name of [".", "..", "a/b", "a%b"])
    assert.equal(
      (
        await ask("POST", path, {
          body: { metadata: { name }, involvedObject: { namespace: path.split("/")[4] } },
        })
      ).status,
      422,
    );
  assert.equal(((await must(200, "GET", `${path}?limit=3`)).json["items"] as unknown[]).length, 3);
});

test("a future version is waited for briefly, then rejected", async () => {
  const clock = virtualClock(Date.UTC(2030, 0));
  await using other = await startServer({ store: "memory", clock });
  const answers: [query: string, status: number, reason: string][] = [
    ["resourceVersion=999999", 504, "Timeout"],
    ["resourceVersion=18446744073709551615", 504, "Timeout"],
    ["resourceVersion=999999&resourceVersionMatch=Exact", 400, "BadRequest"],
    ["resourceVersion=9223372036854775808&resourceVersionMatch=Exact", 400, "BadRequest"],
    [`continue=${token(999999, "default/a\0")}`, 400, "BadRequest"],
  ];
  for (const [query, status, reason] of answers) {
    const waiting = other.inject({ path: `${maps("default")}?${query}` });
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(5000);
    const answer = await waiting;
    const body = (await answer.json()) as Json;
    assert.deepEqual([answer.status, body["reason"]], [status, reason], query);
    if (query.endsWith("Exact"))
      assert.match(
        String(body["message"]),
        new RegExp(`resourceVersion ${/\d+/.exec(query)![0]} is in the future`),
      );
  }
});

test("a read from the store at a future version has no Retry-After", async () => {
  const clock = virtualClock(Date.UTC(2030, 0));
  await using other = await startServer({ store: "memory", clock });
  const cases: [path: string, again: string | undefined][] = [
    [`${maps("default")}?resourceVersion=999999`, "1"],
    [`${maps("default")}?resourceVersion=999999&resourceVersionMatch=NotOlderThan&limit=1`, undefined],
    ["/api/v1/namespaces/default/events?resourceVersion=999999", undefined],
  ];
  for (const [path, again] of cases) {
    const waiting = other.inject({ path });
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(5000);
    const answer = await waiting;
    assert.deepEqual([answer.status, answer.headers["retry-after"]], [504, again], path);
  }
});

test("a compacted version is distinguished from one that never existed", async () => {
  const store = new MemoryStore();
  const started = await start({
    dialect: dialects.orch,
    settings: settingsFor(dialects.orch, { store: "memory", flags: ["--watch-cache=false"] }),
    store,
    listen: false,
    log: silentLog,
  });
  const json = async (path: string, body?: object): Promise<[number, Json]> => {
    const answer = await started.inject({
      path,
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    return [answer.status, (await answer.json()) as Json];
  };
  try {
    for (const name of ["a", "b", "c"]) await json(maps("default"), { metadata: { name } });
    const [, first] = await json(`${maps("default")}?limit=1`);
    const { continue: next, resourceVersion } = first["metadata"] as {
      continue: string;
      resourceVersion: string;
    };
    await json(maps("default"), { metadata: { name: "d" } });
    await store.compact((await store.status()).revision);
    const [status, gone] = await json(`${maps("default")}?limit=1&continue=${next}`);
    assert.deepEqual([status, gone["reason"]], [410, "Expired"]);
    const [again, rest] = await json(
      `${maps("default")}?continue=${(gone["metadata"] as { continue: string }).continue}`,
    );
    assert.deepEqual([again, names(rest)], [200, ["b", "c", "d"]]);
    const [old] = await json(
      `${maps("default")}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
    );
    assert.equal(old, 410);
  } finally {
    await started.stop();
    await store.close();
  }
});

test("events are watched from revisions in the store, other kinds also from cached history", async () => {
  const store = new MemoryStore();
  const started = await start({
    dialect: dialects.orch,
    settings: settingsFor(dialects.orch, { store: "memory", flags: [] }),
    store,
    listen: false,
    log: silentLog,
  });
  const frames = async (path: string): Promise<Json[]> => {
    const answer = await started.inject({ path: `${path}&watch=1&timeoutSeconds=1` });
    return Buffer.from(await answer.bytes())
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Json);
  };
  try {
    const post = async (path: string, body: object): Promise<Json> =>
      (await (await started.inject({ path, method: "POST", body: JSON.stringify(body) })).json()) as Json;
    const from = at(await post(maps("default"), { metadata: { name: "a" } }), "metadata.resourceVersion");
    await post(maps("default"), { metadata: { name: "b" } });
    await post("/api/v1/namespaces/default/events", coreEvent("e", "default"));
    await store.compact((await store.status()).revision);
    assert.deepEqual(each(await frames(`${maps("default")}?resourceVersion=${String(from)}`), "type"), [
      "ADDED",
    ]);
    const [gone] = await frames(`/api/v1/namespaces/default/events?resourceVersion=${String(from)}`);
    assert.deepEqual([gone?.["type"], at(gone, "object.code")], ["ERROR", 410]);
  } finally {
    await started.stop();
    await store.close();
  }
});

test("both groups of events are one list", async () => {
  const namespace = await place();
  await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${namespace}/events`, {
    body: newEvent("a", namespace),
  });
  assert.deepEqual(names((await must(200, "GET", `/api/v1/namespaces/${namespace}/events`)).json), ["a"]);
});
