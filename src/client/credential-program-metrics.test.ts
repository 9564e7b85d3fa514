import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { credentialProgramMetrics } from "./credential-program-metrics.ts";

test("without credential plugins no certificate expires and none was rotated", () => {
  const metrics = createMetrics();
  credentialProgramMetrics(metrics);
  assert.match(metrics.expose(), /^rest_client_exec_plugin_ttl_seconds \+Inf$/m);
  assert.match(metrics.expose(), /^rest_client_exec_plugin_certificate_rotation_age_count 0$/m);
});
