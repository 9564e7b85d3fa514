import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { dialects } from "#dialect";
import { issuedMetrics } from "./issued-metrics.ts";

test("issued certificates are counted by signer, with all custom signers as one", () => {
  const metrics = createMetrics();
  const issued = issuedMetrics(metrics, dialects.orch);
  issued("orch.io/apiserver-client", true);
  issued("orch.io/apiserver-client", false);
  issued("example.com/a", true);
  issued("example.com/b", true);
  const text = metrics.expose();
  for (const line of [
    'csr_requested_duration_total{signerName="orch.io/apiserver-client"} 2',
    'csr_honored_duration_total{signerName="orch.io/apiserver-client"} 1',
    'csr_honored_duration_total{signerName="other"} 2',
  ])
    assert.ok(text.includes(`apiserver_certificates_registry_${line}`), line);
});
