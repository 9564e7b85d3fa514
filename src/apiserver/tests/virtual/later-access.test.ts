// Authorization of later releases: selectors of requests and of access reviews.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, serve } from "../../server.fixture.ts";

const pods = "/api/v1/pods";
const reviews = "/apis/authorization.orch.io/v1/subjectaccessreviews";
const node = { name: "system:node:n1", groups: ["system:nodes"] };
const modes = "--authorization-mode=Node";

const lists: [query: string, status: 200 | 403][] = [
  ["?fieldSelector=spec.nodeName%3Dn1", 200],
  ["?fieldSelector=spec.nodeName%3Dn2", 403],
  ["", 403],
];
for (const [query, status] of lists)
  test(`a node that lists pods${query} gets ${status}, and without the gates 200`, async () => {
    const now = await serve({ flags: ["--release=1.32", modes] });
    await now.must(status, "GET", pods + query, { trusted: node });
    const before = await serve({ flags: ["--release=1.31", modes] });
    await before.must(200, "GET", pods + query, { trusted: node });
  });

test("an access review states selectors, and has no such field before", async () => {
  const spec = {
    user: node.name,
    groups: node.groups,
    resourceAttributes: {
      verb: "list",
      resource: "pods",
      fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["n1"] }] },
    },
  };
  const { must } = await serve({ flags: ["--release=1.32", modes] });
  const review = async (given: Json): Promise<unknown> =>
    (await must(201, "POST", reviews, { body: { spec: given } })).at("status.allowed");
  assert.equal(await review(spec), true);
  assert.equal(await review({ ...spec, resourceAttributes: { verb: "list", resource: "pods" } }), false);
  const both = {
    ...spec,
    resourceAttributes: {
      ...spec.resourceAttributes,
      fieldSelector: { ...spec.resourceAttributes.fieldSelector, rawSelector: "a=b" },
    },
  };
  const refused = await must(422, "POST", reviews, { body: { spec: both } });
  assert.match(
    String(refused.at("message")),
    /fieldSelector\.rawSelector: .*at the same time as requirements/,
  );

  const before = await serve();
  const made = await before.must(201, "POST", reviews, { body: { spec } });
  assert.equal(made.at("spec.resourceAttributes.fieldSelector"), undefined);
  for (const [served, has] of [
    [must, true],
    [before.must, false],
  ] as const) {
    const document = await served(200, "GET", "/openapi/v3/apis/authorization.orch.io/v1");
    const schemas = document.at("components.schemas") as Record<string, { properties: Json }>;
    const [, attributes] = Object.entries(schemas).find(([name]) => name.endsWith(".ResourceAttributes"))!;
    assert.equal(Object.hasOwn(attributes.properties, "fieldSelector"), has);
  }
});

test("nodes are authorized by selectors only if all requests are", async () => {
  await assert.rejects(
    serve({ flags: ["--feature-gates=AuthorizeNodeWithSelectors=true"] }),
    /AuthorizeNodeWithSelectors can only be enabled if AuthorizeWithSelectors is enabled/,
  );
});
