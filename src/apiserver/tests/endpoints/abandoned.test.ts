// Requests whose client has gone, or that were answered by their deadline, do no more work.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readAnyBody } from "#endpoints";
import { apiCall } from "#kit";
import { serve } from "../../server.fixture.ts";

const { must, place, server } = await serve();

test("a collection is not deleted any further once its client has gone", async () => {
  const path = `/api/v1/namespaces/${await place()}/configmaps`;
  await must(201, "POST", path, { body: { metadata: { name: "a" } } });
  await server.inject({ method: "DELETE", path, signal: AbortSignal.abort() });
  await must(200, "GET", `${path}/a`);
});

test("a body that arrives after the deadline is not processed", async () => {
  const call = apiCall({ method: "POST" });
  const passed = new Error("the deadline has passed");
  call.abandon(passed);
  await assert.rejects(readAnyBody(call), passed);
});
