// Unusual custom resource definitions, handled as by the reference.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "#kit";
import type { Json } from "../../server.fixture.ts";
import { ask, define, definition, definitions, must, version } from "./custom-resources.fixture.ts";

const spec = (property: Json): Json[] => [version({ spec: { type: "object", properties: { a: property } } })];

const refused: [name: string, body: Json, causes: string[]][] = [
  [
    "dependencies are refused, empty ones too",
    definition(spec({ type: "object", dependencies: {} })),
    ["Forbidden …properties[spec].properties[a].dependencies"],
  ],
  [
    "nullable is not allowed at the root with a status subresource",
    definition([
      version(
        {},
        { subresources: { status: {} }, schema: { openAPIV3Schema: { type: "object", nullable: true } } },
      ),
    ]),
    ["Invalid …", "Forbidden …nullable"],
  ],
  [
    "generateName is validated as a name",
    { ...definition(spec({ type: "string" })), metadata: { generateName: "widgets-" } },
    ["Invalid metadata.generateName", "Invalid metadata.name"],
  ],
  [
    "defaults need pruning",
    definition(spec({ type: "string", default: "x" }), { preserveUnknownFields: true }),
    ["Invalid spec.preserveUnknownFields", "Invalid spec.preserveUnknownFields"],
  ],
];
for (const [name, body, causes] of refused)
  test(name, async () => {
    const { causes: found } = await must(422, "POST", definitions, { body });
    assert.deepEqual(
      found.map((cause) => cause.replace(/spec\.validation\.openAPIV3Schema\.?/, "…")),
      causes,
    );
  });

test("an empty webhook conversion is not stored", async () => {
  const body = definition(spec({ type: "string" }), { conversion: { strategy: "None", webhook: {} } });
  const answer = await must(201, "POST", definitions, { body });
  assert.deepEqual(answer.at("spec.conversion"), { strategy: "None" });
});

test("a definition with invalid stored versions can be deleted", async () => {
  const body = definition(spec({ type: "string" }));
  const path = `${definitions}/${body.metadata.name}`;
  await must(201, "POST", definitions, { body });
  const type = "application/merge-patch+json";
  await must(200, "PATCH", `${path}/status`, { body: { status: { storedVersions: ["v9"] } }, type });
  await must(200, "DELETE", path);
  await eventually(async () => (await ask("GET", path)).status === 404);
});

test("an unknown version of a custom group is not found", async () => {
  const { group } = await define(spec({ type: "string" }));
  assert.equal((await must(404, "GET", `/apis/${group}/v9`)).text, "404 page not found\n");
  assert.equal((await must(404, "GET", "/apis/apps/v9")).at("reason"), "NotFound");
});
