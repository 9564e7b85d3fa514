// Every operation on Events with every query parameter, as document 1 states them in sections 4, 6 and 7, in
// both groups and dialects.
import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import type { DialectName } from "#dialect";
import { type Asking, type Json, at, coreEvent, each, newEvent, serve } from "../server.fixture.ts";

const clock = virtualClock(Date.UTC(2030, 0, 2));
const merge = "application/merge-patch+json";
const apply = "application/apply-patch+yaml";

for (const dialect of ["orch", "kubernetes"] satisfies DialectName[]) {
  const { ask, must, watch, follow, place } = await serve({ dialect, clock, flags: ["--event-ttl=60s"] });
  const suffix = dialect === "orch" ? "orch.io" : "k8s.io";
  const groups: [
    name: string,
    root: string,
    apiVersion: string,
    event: typeof newEvent,
    text: string,
    ctx: string,
  ][] = [
    ["events", `/apis/events.${suffix}/v1`, `events.${suffix}/v1`, newEvent, "note", "regarding"],
    ["core", "/api/v1", "v1", coreEvent, "message", "involvedObject"],
  ];
  for (const [group, root, apiVersion, event, text, ctx] of groups) {
    const titled = (sentence: string): string => `${dialect} ${group}: ${sentence}`;
    const filled = async (count: number): Promise<string> => {
      const namespace = await place();
      const path = `${root}/namespaces/${namespace}/events`;
      for (let i = 0; i < count; i++) {
        await must(201, "POST", path, {
          body: event(`e${i}`, namespace, {
            metadata: { name: `e${i}`, labels: { n: String(i) } },
            reason: i % 2 ? "Odd" : "Even",
          }),
        });
      }
      return path;
    };
    const names = (json: Json): unknown[] => each(json["items"], "metadata.name");

    test(titled("get answers 200 with the event, takes pretty, and 404 without one"), async () => {
      const path = await filled(1);
      const plain = await must(200, "GET", `${path}/e0`);
      assert.deepEqual(
        [plain.at("kind"), plain.at("apiVersion"), plain.at("metadata.name"), plain.at(text)],
        ["Event", apiVersion, "e0", "it was tested"],
      );
      const pretty = await must(200, "GET", `${path}/e0?pretty=true`);
      assert.deepEqual(pretty.json, plain.json);
      assert.notEqual(pretty.text, plain.text);
      await must(404, "GET", `${path}/none`);
    });

    test(titled("list answers 200 with the events of one namespace, or of all"), async () => {
      const path = await filled(2);
      const own = await must(200, "GET", path);
      assert.deepEqual(
        [own.at("kind"), own.at("apiVersion"), names(own.json)],
        ["EventList", apiVersion, ["e0", "e1"]],
      );
      const all = await must(200, "GET", `${root}/events`);
      const namespaces = new Set(each(all.at("items"), "metadata.namespace"));
      assert.ok(namespaces.has(path.split("/").at(-2)!) && namespaces.size > 1);
    });

    const queries: [query: string, expected: string[]][] = [
      ["limit=2", ["e0", "e1"]],
      [`fieldSelector=reason%3DOdd`, ["e1"]],
      [`fieldSelector=${ctx}.name%3Dp,type!%3DWarning`, ["e0", "e1", "e2"]],
      [`fieldSelector=${ctx}.kind%3DNode`, []],
      ["fieldSelector=metadata.name%3De2", ["e2"]],
      ["labelSelector=n%20in%20(0,2)", ["e0", "e2"]],
      ["pretty=true", ["e0", "e1", "e2"]],
      ["resourceVersion=0", ["e0", "e1", "e2"]],
      ["resourceVersion=1&resourceVersionMatch=NotOlderThan", ["e0", "e1", "e2"]],
      ["timeoutSeconds=5", ["e0", "e1", "e2"]],
      ["allowWatchBookmarks=true", ["e0", "e1", "e2"]],
      ["watch=false", ["e0", "e1", "e2"]],
      ["", ["e0", "e1", "e2"]],
    ];
    for (const [query, expected] of queries) {
      test(titled(`list takes ${query || "no parameter at all"}`), async () => {
        const path = await filled(3);
        assert.deepEqual(names((await must(200, "GET", `${path}?${query}`)).json), expected);
        if (!query.startsWith("resourceVersion"))
          assert.ok(
            names((await must(200, "GET", `${root}/events?${query}`)).json).length >=
              Math.min(1, expected.length),
          );
      });
    }

    test(titled("list continues where a page ended"), async () => {
      const path = await filled(3);
      const first = await must(200, "GET", `${path}?limit=2`);
      assert.equal(first.at("metadata.remainingItemCount"), 1);
      assert.deepEqual(
        names((await must(200, "GET", `${path}?limit=2&continue=${first.at("metadata.continue")}`)).json),
        ["e2"],
      );
    });

    test(titled("the list path with watch=true is a watch, in one namespace and in all"), async () => {
      const path = await filled(1);
      const [one, all] = [await follow(`${path}?watch=1`), await follow(`${root}/events?watch=1`)];
      await must(201, "POST", path, { body: event("e1", path.split("/").at(-2)!) });
      await must(200, "PATCH", `${path}/e1`, { type: merge, body: { metadata: { labels: { x: "1" } } } });
      await must(200, "DELETE", `${path}/e0`);
      for (const watching of [one, all]) {
        const frames = await watching.next(3);
        assert.deepEqual(each(frames, "type"), ["ADDED", "MODIFIED", "DELETED"]);
        assert.deepEqual(each(frames, "object.apiVersion"), [apiVersion, apiVersion, apiVersion]);
        watching.stop();
      }
    });

    test(titled("a watch ends after timeoutSeconds"), async () => {
      const all = watch(`${await filled(1)}?watch=1&timeoutSeconds=5`).rest();
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(6000);
      assert.deepEqual(each(await all, "type"), ["ADDED"]);
    });

    test(
      titled("create answers 201 with the event and takes dryRun, fieldManager, fieldValidation and pretty"),
      async () => {
        const namespace = await place();
        const path = `${root}/namespaces/${namespace}/events`;
        const dry = await must(
          201,
          "POST",
          `${path}?dryRun=All&fieldManager=me&fieldValidation=Strict&pretty=true`,
          { body: event("a", namespace) },
        );
        assert.deepEqual(
          [dry.at("metadata.managedFields.0.manager"), dry.at("metadata.resourceVersion")],
          ["me", undefined],
        );
        await must(404, "GET", `${path}/a`);
        const made = await must(201, "POST", path, { body: event("a", namespace) });
        assert.ok(made.at("metadata.uid") && made.at("metadata.creationTimestamp"));
        await must(409, "POST", path, { body: event("a", namespace) });
        await must(400, "POST", `${path}?fieldValidation=Strict`, {
          body: { ...event("b", namespace), unheard: 1 },
        });
        await must(400, "POST", path, {});
        await must(400, "POST", path, { body: "" });
      },
    );

    test(
      titled(
        "replace answers 200, or 201 when it creates, and takes dryRun, fieldManager, fieldValidation and pretty",
      ),
      async () => {
        const namespace = await place();
        const path = `${root}/namespaces/${namespace}/events`;
        const dry = await must(201, "PUT", `${path}/a?dryRun=All`, { body: event("a", namespace) });
        assert.equal(dry.at("metadata.resourceVersion"), undefined);
        await must(404, "GET", `${path}/a`);
        const made = await must(201, "PUT", `${path}/a?fieldManager=me`, { body: event("a", namespace) });
        assert.equal(made.at("metadata.managedFields.0.manager"), "me");
        const changed = {
          ...made.json,
          metadata: { ...(made.json["metadata"] as Json), labels: { x: "1" } },
        };
        assert.deepEqual(
          (await must(200, "PUT", `${path}/a?dryRun=All&pretty=1`, { body: changed })).at("metadata.labels"),
          { x: "1" },
        );
        await must(200, "PUT", `${path}/a?fieldValidation=Strict`, { body: changed });
        await must(409, "PUT", `${path}/a`, { body: changed });
        await must(400, "PUT", `${path}/b`, { body: changed });
        await must(400, "PUT", `${path}/a`, { body: "" });
      },
    );

    test(titled("patch answers 200, or 201 when it creates, and alone takes force"), async () => {
      const namespace = await place();
      const path = `${root}/namespaces/${namespace}/events/a`;
      const body = { apiVersion, kind: "Event", ...event("a", namespace) };
      const made = await must(201, "PATCH", `${path}?fieldManager=me`, { type: apply, body });
      assert.equal(made.at("metadata.managedFields.0.operation"), "Apply");
      const labelled = { ...body, metadata: { name: "a", labels: { x: "1" } } };
      await must(200, "PATCH", `${path}?fieldManager=you`, {
        type: apply,
        body: { ...labelled, [text]: undefined },
      });
      const other = { apiVersion, kind: "Event", metadata: { name: "a", labels: { x: "2" } } };
      await must(409, "PATCH", `${path}?fieldManager=third`, { type: apply, body: other });
      assert.equal(
        (await must(200, "PATCH", `${path}?fieldManager=third&force=true`, { type: apply, body: other })).at(
          "metadata.labels.x",
        ),
        "2",
      );
      await must(422, "PATCH", `${path}?force=true`, { type: merge, body: {} });
      for (const [type, patch] of [
        [merge, { metadata: { labels: { y: "1" } } }],
        ["application/strategic-merge-patch+json", { metadata: { labels: { y: "2" } } }],
        ["application/json-patch+json", [{ op: "replace", path: "/metadata/labels/y", value: "3" }]],
      ] as const)
        await must(200, "PATCH", `${path}?fieldManager=me&fieldValidation=Strict&pretty=1`, {
          type,
          body: patch,
        });
      assert.equal((await must(200, "GET", path)).at("metadata.labels.y"), "3");
      assert.equal(
        (
          await must(200, "PATCH", `${path}?dryRun=All`, {
            type: merge,
            body: { metadata: { labels: { y: "9" } } },
          })
        ).at("metadata.labels.y"),
        "9",
      );
      assert.equal((await must(200, "GET", path)).at("metadata.labels.y"), "3");
      await must(404, "PATCH", `${path}x`, { type: merge, body: {} });
    });

    const deletions: [name: string, query: string, asking: Asking, gone: boolean][] = [
      ["no options", "", {}, true],
      [
        "with options in the body",
        "",
        {
          body: {
            kind: "DeleteOptions",
            apiVersion: "v1",
            gracePeriodSeconds: 5,
            propagationPolicy: "Foreground",
          },
        },
        true,
      ],
      ["dryRun", "dryRun=All", {}, false],
      ["dryRun in the body", "", { body: { dryRun: ["All"] } }, false],
      ["gracePeriodSeconds", "gracePeriodSeconds=0", {}, true],
      ["propagationPolicy", "propagationPolicy=Orphan", {}, true],
      ["pretty", "pretty=true", {}, true],
    ];
    for (const [name, query, asking, gone] of deletions) {
      test(titled(`delete takes ${name} and answers 200 with a Status`), async () => {
        const path = await filled(1);
        const answer = await must(200, "DELETE", `${path}/e0?${query}`, asking);
        assert.deepEqual(
          [answer.at("kind"), answer.at("status"), answer.at("details.name")],
          ["Status", "Success", "e0"],
        );
        await must(gone ? 404 : 200, "GET", `${path}/e0`);
        if (gone) await must(404, "DELETE", `${path}/e0?${query}`, asking);
      });
    }

    const collections: [query: string, left: string[]][] = [
      ["", []],
      ["labelSelector=n%3D1", ["e0", "e2"]],
      ["fieldSelector=reason%3DEven", ["e1"]],
      ["limit=1", ["e1", "e2"]],
      ["resourceVersion=0", []],
      ["resourceVersion=1&resourceVersionMatch=NotOlderThan", []],
      ["timeoutSeconds=10&pretty=true", []],
      ["dryRun=All", ["e0", "e1", "e2"]],
      ["gracePeriodSeconds=0", []],
      ["propagationPolicy=Background", []],
    ];
    for (const [query, left] of collections) {
      test(titled(`deletecollection takes ${query || "nothing"} and answers 200`), async () => {
        const path = await filled(3);
        // Without a body, delete options are taken from the query too, where resourceVersion is a
        // precondition for each object.
        const answer = await must(
          200,
          "DELETE",
          `${path}?${query}`,
          query.includes("resourceVersion") ? { body: {} } : {},
        );
        assert.equal(answer.at("kind"), "EventList");
        assert.deepEqual(names((await must(200, "GET", path)).json), left);
      });
    }

    test(
      titled("deletecollection is declared to answer 200 with a Status, not 202, with an optional body"),
      async () => {
        const { json } = await must(200, "GET", "/openapi/v2");
        const operation = (json["paths"] as Record<string, Json>)[`${root}/namespaces/{namespace}/events`]!;
        const { responses, parameters } = operation["delete"] as {
          readonly responses: Record<string, { schema?: { $ref: string } }>;
          readonly parameters: { name: string; required?: boolean }[];
        };
        assert.deepEqual(Object.keys(responses), ["200", "401"]);
        assert.match(responses["200"]!.schema!.$ref, /\.Status$/);
        const body = parameters.find(({ name }) => name === "body");
        assert.ok(body && body.required !== true);
        for (const asking of [{}, { body: {} }])
          assert.equal((await ask("DELETE", await filled(1), asking)).status, 200);
      },
    );

    test(
      titled("deletecollection with a version and no body deletes only objects of that version"),
      async () => {
        const path = await filled(3);
        await must(409, "DELETE", `${path}?resourceVersion=0`);
        assert.equal(names((await must(200, "GET", path)).json).length, 3);
      },
    );

    test(titled("deletecollection continues where a page ended"), async () => {
      const path = await filled(3);
      const first = await must(200, "DELETE", `${path}?limit=2`);
      await must(200, "DELETE", `${path}?limit=2&continue=${first.at("metadata.continue")}`);
      assert.deepEqual(names((await must(200, "GET", path)).json), []);
    });

    test(titled("across namespaces there is no create and no deletecollection"), async () => {
      await must(405, "POST", `${root}/events`, { body: event("a", "default") });
      await must(405, "DELETE", `${root}/events`);
      await must(404, "GET", `${root}/events/a`);
    });

    const operations: [method: string, path: string, body?: unknown][] = [
      ["GET", "events"],
      ["GET", "events?watch=1"],
      ["GET", "namespaces/default/events"],
      ["GET", "namespaces/default/events/a"],
      ["POST", "namespaces/default/events", {}],
      ["PUT", "namespaces/default/events/a", {}],
      ["PATCH", "namespaces/default/events/a", {}],
      ["DELETE", "namespaces/default/events/a"],
      ["DELETE", "namespaces/default/events"],
    ];
    for (const [method, path, body] of operations) {
      test(
        titled(`${method} ${path} answers 401 to an unauthenticated client and 403 to an unauthorized user`),
        async () => {
          const sent = body === undefined ? {} : { body };
          const unknown = await must(401, method, `${root}/${path}`, {
            ...sent,
            trusted: null,
            headers: { authorization: "Bearer nonsense" },
          });
          assert.deepEqual(
            [unknown.at("kind"), unknown.at("reason"), unknown.at("code")],
            ["Status", "Unauthorized", 401],
          );
          const stranger = await must(403, method, `${root}/${path}`, {
            ...sent,
            trusted: { name: "stranger", groups: [] },
          });
          assert.equal(stranger.at("reason"), "Forbidden");
        },
      );
    }

    test(titled("events are kept for the time of --event-ttl, which an update restarts"), async () => {
      const path = await filled(2);
      await clock.advance(40_000);
      await must(200, "PATCH", `${path}/e1`, {
        type: merge,
        body: { metadata: { labels: { fresh: "1" } } },
      });
      await clock.advance(22_000);
      assert.deepEqual(names((await must(200, "GET", path)).json), ["e1"]);
      await must(404, "GET", `${path}/e0`);
      await clock.advance(40_000);
      assert.deepEqual(names((await must(200, "GET", path)).json), []);
    });
  }

  test(`${dialect}: an event written through one group can be read, changed and deleted through the other`, async () => {
    const namespace = await place();
    const [events, core] = [
      `/apis/events.${suffix}/v1/namespaces/${namespace}/events`,
      `/api/v1/namespaces/${namespace}/events`,
    ];
    const { json } = await must(201, "POST", events, { body: newEvent("a", namespace) });
    const twin = await must(200, "GET", `${core}/a`);
    assert.deepEqual(
      [twin.at("metadata.uid"), twin.at("metadata.resourceVersion")],
      [at(json, "metadata.uid"), at(json, "metadata.resourceVersion")],
    );
    await must(200, "PATCH", `${core}/a`, { type: merge, body: { count: 3 } });
    assert.equal((await must(200, "GET", `${events}/a`)).at("deprecatedCount"), 3);
    await must(200, "DELETE", `${core}/a`);
    await must(404, "GET", `${events}/a`);
    assert.equal((await ask("GET", events)).status, 200);
  });
}
