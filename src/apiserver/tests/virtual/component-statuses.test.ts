import assert from "node:assert/strict";
import { test } from "node:test";
import { each, serve } from "../../server.fixture.ts";

const { must } = await serve();
const path = "/api/v1/componentstatuses";

test("component statuses are listed with a deprecation warning", async () => {
  const list = await must(200, "GET", path);
  assert.equal(list.at("kind"), "ComponentStatusList");
  assert.deepEqual(
    new Set(each(list.at("items"), "metadata.name")),
    new Set(["controller-manager", "scheduler", "store-0"]),
  );
  assert.match(String(list.headers["warning"]), /deprecated in v1\.19/);
  const store = await must(200, "GET", `${path}/store-0`);
  assert.deepEqual(store.at("conditions"), [{ type: "Healthy", status: "True" }]);
  await must(404, "GET", `${path}/none`);
  await must(405, "DELETE", `${path}/store-0`);
});

test("component statuses are selected by name, and never by label", async () => {
  assert.deepEqual(
    each(
      (await must(200, "GET", `${path}?fieldSelector=metadata.name%3Dstore-0`)).at("items"),
      "metadata.name",
    ),
    ["store-0"],
  );
  assert.deepEqual((await must(200, "GET", `${path}?labelSelector=a`)).at("items"), []);
  await must(400, "GET", `${path}?labelSelector=!!`);
});

test("component statuses have a table", async () => {
  const table = await must(200, "GET", `${path}/store-0`, {
    accept: "application/json;as=Table;v=v1;g=meta.orch.io",
  });
  assert.deepEqual(each(table.at("columnDefinitions"), "name"), ["Name", "Status", "Message", "Error"]);
  assert.deepEqual(table.at("rows.0.cells"), ["store-0", "Healthy", "", ""]);
});

test("component statuses cannot be watched, which is reported after their options are validated", async () => {
  const refused = await must(405, "GET", `${path}?watch=true`);
  assert.equal(refused.at("message"), 'watch is not supported on resources of kind "componentstatuses"');
  await must(400, "GET", `${path}?watch=true&timeoutSeconds=x`);
  await must(422, "GET", `${path}?watch=true&resourceVersionMatch=Exact`);
  await must(404, "GET", path.replace("/componentstatuses", "/watch/componentstatuses"));
});
