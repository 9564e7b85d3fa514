// Validation of Events, as document 1 states it in sections 2.1 and 2.2, in both groups and both dialects.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DialectName } from "#dialect";
import { type Json, coreEvent, newEvent, serve } from "../server.fixture.ts";

const long = (length: number): string => "x".repeat(length);
const later = "2030-01-02T04:00:00.000000Z";
const series = { count: 2, lastObservedTime: later };

/** Changes to a valid new event, and the causes of its rejection; empty if it is accepted. */
const created: [name: string, more: Json, causes: string[]][] = [
  ["a new event with every required field is accepted", {}, []],
  [
    "eventTime is required",
    { eventTime: undefined },
    ["Required eventTime", "Invalid involvedObject.namespace"],
  ],
  ["a null eventTime counts as missing", { eventTime: null }, ["Required eventTime"]],
  [
    "an eventTime of the year 1 is accepted, though it is the zero time",
    { eventTime: "0001-01-01T00:00:00.000000Z" },
    [],
  ],
  ["action must not be empty", { action: "" }, ["Required action"]],
  ["action is required", { action: undefined }, ["Required action"]],
  ["an action of 128 characters is accepted", { action: long(128) }, []],
  ["an action of 129 characters is refused", { action: long(129) }, ["Invalid action"]],
  ["reason must not be empty", { reason: "" }, ["Required reason"]],
  ["a reason of 128 characters is accepted", { reason: long(128) }, []],
  ["a reason of 129 characters is refused", { reason: long(129) }, ["Invalid reason"]],
  ["a note is optional", { note: undefined }, []],
  ["a note of 1 kB is accepted", { note: long(1024) }, []],
  ["a note beyond 1 kB is refused", { note: long(1025) }, ["Invalid message"]],
  ["type must not be empty", { type: "" }, ["Invalid type"]],
  ["type is required", { type: undefined }, ["Invalid type"]],
  ["type Warning is accepted", { type: "Warning" }, []],
  ["a type that is neither Normal nor Warning is refused", { type: "Terrible" }, ["Invalid type"]],
  [
    "reportingController must not be empty",
    { reportingController: "" },
    ["Required reportingController", "Invalid reportingController", "Invalid reportingController"],
  ],
  ["reportingController is <domain>/<component>", { reportingController: "example.com/part" }, []],
  ["a component without a domain is accepted", { reportingController: "part" }, []],
  [
    "a reportingController with two slashes is refused",
    { reportingController: "a/b/c" },
    ["Invalid reportingController"],
  ],
  [
    "a reportingController may be longer than 128 characters",
    { reportingController: `${"long.".repeat(30)}example.com/part` },
    [],
  ],
  ["reportingInstance must not be empty", { reportingInstance: "" }, ["Required reportingInstance"]],
  ["a reportingInstance of 128 characters is accepted", { reportingInstance: long(128) }, []],
  [
    "a reportingInstance of 129 characters is refused",
    { reportingInstance: long(129) },
    ["Invalid reportingInstance"],
  ],
  ["related is optional", { related: { kind: "Node", name: "n" } }, []],
  ["a series is accepted", { series }, []],
  ["a series with a count of 1 is refused", { series: { ...series, count: 1 } }, ["Invalid series.count"]],
  ["a series requires a count", { series: { lastObservedTime: later } }, ["Invalid series.count"]],
  ["a series requires a last observed time", { series: { count: 2 } }, ["Required series.lastObservedTime"]],
  ["the old count must be unset", { deprecatedCount: 1 }, ["Invalid count"]],
  [
    "the old first time must be unset",
    { deprecatedFirstTimestamp: "2030-01-01T00:00:00Z" },
    ["Invalid firstTimestamp"],
  ],
  [
    "the old last time must be unset",
    { deprecatedLastTimestamp: "2030-01-01T00:00:00Z" },
    ["Invalid lastTimestamp"],
  ],
  ["the old source must be unset", { deprecatedSource: { component: "c" } }, ["Invalid source"]],
  ["a name is a DNS subdomain", { metadata: { name: "Upper" } }, ["Invalid metadata.name"]],
];

/** Values that cannot be decoded. */
const unreadable: [name: string, more: Json][] = [
  ["eventTime has six fraction digits", { eventTime: "2030-01-02T03:04:05.123Z" }],
  ["eventTime is a time", { eventTime: "yesterday" }],
  ["the count of a series is a number", { series: { ...series, count: "two" } }],
  ["the count of a series fits 32 bits", { series: { ...series, count: 2 ** 31 } }],
  ["the old count fits 32 bits", { deprecatedCount: 2 ** 31 }],
  ["a note is a text", { note: 1 }],
  ["apiVersion is that of the group", { apiVersion: "events.example.com/v1" }],
  ["kind is Event", { kind: "Evening" }],
];

for (const name of ["orch", "kubernetes"] satisfies DialectName[]) {
  const { ask, must, place } = await serve({ dialect: name });
  const namespace = await place();
  const group = name === "orch" ? "events.orch.io" : "events.k8s.io";
  const system = name === "orch" ? "orch-system" : "kube-system";
  const events = `/apis/${group}/v1/namespaces/${namespace}/events`;
  const core = `/api/v1/namespaces/${namespace}/events`;
  let made = 0;
  const next = (): string => `e${++made}`;

  for (const [sentence, more, causes] of created) {
    test(`${name}: ${sentence}`, async () => {
      const id = next();
      const answer = await ask("POST", events, { body: newEvent(id, namespace, more) });
      assert.equal(answer.status, causes.length > 0 ? 422 : 201, answer.text);
      if (causes.length === 0) return;
      assert.deepEqual(
        answer.causes.filter((cause) => causes.includes(cause)).toSorted(),
        answer.causes.toSorted(),
      );
      for (const cause of new Set(causes))
        if (cause !== "Invalid involvedObject.namespace")
          assert.ok(answer.causes.includes(cause), `${cause} in ${answer.causes.join()}`);
      await must(404, "GET", `${events}/${id}`);
    });
  }

  for (const [sentence, more] of unreadable) {
    test(`${name}: ${sentence}`, async () => {
      const answer = await must(400, "POST", events, { body: newEvent(next(), namespace, more) });
      assert.equal(answer.at("reason"), "BadRequest");
    });
  }

  test(`${name}: an event carries the apiVersion and kind of its group, whether sent or not`, async () => {
    const id = next();
    const answer = await must(201, "POST", events, { body: newEvent(id, namespace) });
    assert.deepEqual([answer.at("apiVersion"), answer.at("kind")], [`${group}/v1`, "Event"]);
    assert.deepEqual(
      [
        (await must(200, "GET", `${core}/${id}`)).at("apiVersion"),
        (await must(200, "GET", `${core}/${id}`)).at("kind"),
      ],
      ["v1", "Event"],
    );
  });

  test(`${name}: metadata may be left to the server`, async () => {
    const { metadata: _, ...rest } = newEvent("", namespace);
    const refused = await must(422, "POST", events, { body: rest });
    assert.deepEqual(refused.causes, ["Required metadata.name"]);
    assert.match(
      String(
        (await must(201, "POST", events, { body: { ...rest, metadata: { generateName: "made-" } } })).at(
          "metadata.name",
        ),
      ),
      /^made-.{5}$/,
    );
  });

  test(`${name}: microseconds survive a create and get round trip`, async () => {
    const id = next();
    await must(201, "POST", events, {
      body: newEvent(id, namespace, { eventTime: "2030-12-31T23:59:59.000001Z" }),
    });
    assert.equal((await must(200, "GET", `${events}/${id}`)).at("eventTime"), "2030-12-31T23:59:59.000001Z");
    assert.equal((await must(200, "GET", `${core}/${id}`)).at("eventTime"), "2030-12-31T23:59:59.000001Z");
  });

  test(`${name}: a note of 64 kB is returned in full`, async () => {
    const id = next();
    const message = long(64 * 1024);
    await must(201, "POST", core, { body: coreEvent(id, namespace, { message }) });
    assert.equal((await must(200, "GET", `${events}/${id}`)).at("note"), message);
  });

  test(`${name}: an unknown type is returned unchanged`, async () => {
    const id = next();
    await must(201, "POST", core, { body: coreEvent(id, namespace, { type: "Terrible" }) });
    assert.equal((await must(200, "GET", `${events}/${id}`)).at("type"), "Terrible");
  });

  test(`${name}: a single event has no series`, async () => {
    const id = next();
    await must(201, "POST", events, { body: newEvent(id, namespace) });
    assert.equal("series" in (await must(200, "GET", `${events}/${id}`)).json, false);
  });

  test(`${name}: a series has the count that its reporter sets`, async () => {
    const id = next();
    await must(201, "POST", events, { body: newEvent(id, namespace) });
    for (const count of [2, 7, 3]) {
      const answer = await must(200, "PATCH", `${events}/${id}`, {
        type: "application/merge-patch+json",
        body: { series: { ...series, count } },
      });
      assert.deepEqual(answer.at("series"), { ...series, count });
    }
    assert.deepEqual(
      (
        await ask("PATCH", `${events}/${id}`, {
          type: "application/merge-patch+json",
          body: { series: { count: 1 } },
        })
      ).causes,
      ["Invalid series.count"],
    );
  });

  test(`${name}: the fields of the older form are stored and returned unchanged, their times in seconds`, async () => {
    const id = next();
    await must(201, "POST", core, { body: coreEvent(id, namespace, { count: -3 }) });
    const answer = await must(200, "GET", `${events}/${id}`);
    assert.deepEqual(
      [
        answer.at("deprecatedCount"),
        answer.at("deprecatedFirstTimestamp"),
        answer.at("deprecatedLastTimestamp"),
        answer.at("deprecatedSource"),
      ],
      [-3, "2030-01-02T03:04:05Z", "2030-01-02T03:04:05Z", { component: "tester", host: "node-1" }],
    );
    const bare = next();
    await must(201, "POST", core, { body: { metadata: { name: bare }, involvedObject: { namespace } } });
    const empty = await must(200, "GET", `${events}/${bare}`);
    assert.deepEqual(
      [empty.at("deprecatedFirstTimestamp"), empty.at("deprecatedCount"), empty.at("deprecatedSource")],
      [null, undefined, {}],
    );
  });

  test(`${name}: rules for new events do not apply to existing ones`, async () => {
    const id = next();
    await must(201, "POST", core, {
      body: coreEvent(id, namespace, { reason: long(200), message: long(2000) }),
    });
    const { json } = await must(200, "GET", `${events}/${id}`);
    const same = await must(200, "PUT", `${events}/${id}`, { body: json });
    assert.deepEqual({ ...same.json, metadata: {} }, { ...json, metadata: {} });
    const labelled = await must(200, "PUT", `${events}/${id}`, {
      body: { ...json, metadata: { name: id, labels: { seen: "yes" } } },
    });
    assert.deepEqual(labelled.at("metadata.labels"), { seen: "yes" });
  });

  const frozen: [field: string, value: unknown, cause: string][] = [
    ["action", "Other", "Invalid action"],
    ["reason", "Other", "Invalid reason"],
    ["note", "other", "Invalid message"],
    ["type", "Warning", "Invalid type"],
    ["eventTime", later, "Invalid eventTime"],
    ["regarding", { namespace, name: "other" }, "Invalid involvedObject"],
    ["related", { name: "other" }, "Invalid related"],
    ["reportingController", "other", "Invalid reportingController"],
    ["reportingInstance", "other-1", "Invalid reportingInstance"],
    ["deprecatedCount", 5, "Invalid count"],
    ["deprecatedFirstTimestamp", "2030-01-01T00:00:00Z", "Invalid firstTimestamp"],
    ["deprecatedLastTimestamp", "2030-01-01T00:00:00Z", "Invalid lastTimestamp"],
    ["deprecatedSource", { component: "other" }, "Invalid source"],
  ];
  for (const [field, value, cause] of frozen) {
    test(`${name}: ${field} is immutable in the events group, while the core group accepts updates`, async () => {
      const id = next();
      const { json } = await must(201, "POST", events, { body: newEvent(id, namespace) });
      const refused = await must(422, "PUT", `${events}/${id}`, { body: { ...json, [field]: value } });
      assert.ok(refused.causes.includes(cause), refused.causes.join());
      assert.equal(refused.at("details.group"), undefined, "errors refer to the core group");
      const old = (await must(200, "GET", `${core}/${id}`)).json;
      await must(200, "PUT", `${core}/${id}`, { body: { ...old, count: 9, message: "other" } });
    });
  }

  test(`${name}: a list carries apiVersion, kind and metadata, and items even if it is empty`, async () => {
    const empty = await must(200, "GET", `/apis/${group}/v1/namespaces/nowhere/events`);
    assert.deepEqual(
      [empty.at("apiVersion"), empty.at("kind"), empty.at("items")],
      [`${group}/v1`, "EventList", []],
    );
    assert.match(String(empty.at("metadata.resourceVersion")), /^\d+$/);
    const coreList = await must(200, "GET", "/api/v1/namespaces/nowhere/events");
    assert.deepEqual(
      [coreList.at("apiVersion"), coreList.at("kind"), coreList.at("items")],
      ["v1", "EventList", []],
    );
  });

  const places: [where: string, regarding: string, status: number][] = [
    ["here", "here", 201],
    ["here", "", 422],
    ["here", "elsewhere", 201],
    ["default", "", 201],
    ["system", "", 201],
  ];
  for (const [where, ctx, status] of places) {
    test(`${name}: an event in ${where} about an object in ${ctx || "no namespace"} answers ${status}`, async () => {
      const of = (word: string): string => (word === "here" ? namespace : word === "system" ? system : word);
      const body = newEvent(next(), namespace, {
        regarding: { name: "x", ...(ctx && { namespace: of(ctx) }) },
      });
      assert.equal(
        (await ask("POST", `/apis/${group}/v1/namespaces/${of(where)}/events`, { body })).status,
        status,
      );
    });
  }

  const coreRules: [name: string, more: Json, causes: string[]][] = [
    [
      "requires only the namespace of the involved object",
      {
        reason: undefined,
        message: undefined,
        type: undefined,
        source: undefined,
        count: undefined,
        firstTimestamp: undefined,
      },
      [],
    ],
    ["accepts names that are not DNS subdomains", { metadata: { name: "Upper_Case" } }, []],
    [
      "refuses an object of another namespace",
      { involvedObject: { namespace: "other" } },
      ["Invalid involvedObject.namespace"],
    ],
    [
      "requires more fields if eventTime is set",
      { eventTime: later },
      [
        "Required reportingComponent",
        "Invalid reportingComponent",
        "Invalid reportingComponent",
        "Required reportingInstance",
        "Required action",
      ],
    ],
  ];
  for (const [sentence, more, causes] of coreRules) {
    test(`${name}: the core group ${sentence}`, async () => {
      const answer = await ask("POST", core, { body: coreEvent(next(), namespace, more) });
      assert.deepEqual(
        [answer.status, causes.length > 0 ? answer.causes.toSorted() : []],
        [causes.length > 0 ? 422 : 201, causes.toSorted()],
        answer.text,
      );
    });
  }

  test(`${name}: every field has a counterpart in the other group`, async () => {
    const id = next();
    const related = {
      kind: "Node",
      name: "n",
      apiVersion: "v1",
      fieldPath: "spec",
      resourceVersion: "7",
      uid: "u-2",
      namespace: "x",
    };
    const sent = newEvent(id, namespace, { related, series });
    await must(201, "POST", events, { body: sent });
    const twin = (await must(200, "GET", `${core}/${id}`)).json;
    const pairs = {
      regarding: "involvedObject",
      note: "message",
      reportingController: "reportingComponent",
      reportingInstance: "reportingInstance",
      action: "action",
      reason: "reason",
      type: "type",
      eventTime: "eventTime",
      series: "series",
      related: "related",
    };
    for (const [here, there] of Object.entries(pairs)) assert.deepEqual(twin[there], sent[here], here);
    const back = (await must(200, "PUT", `${core}/${id}`, { body: twin })).json;
    assert.deepEqual(
      { ...back, metadata: {} },
      { ...twin, metadata: {} },
      "a read object can be written back",
    );
  });
}
