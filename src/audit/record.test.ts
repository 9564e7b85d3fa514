import assert from "node:assert/strict";
import { test } from "node:test";
import { AuditRecord } from "./record.ts";

const annotationsAt = (level: "Metadata" | "Request" | "RequestResponse") => {
  const record = new AuditRecord(
    { level, omitStages: new Set(), omitManagedFields: false },
    {
      auditId: "id-1",
      requestUri: "/api/v1/pods",
      verb: "create",
      user: undefined,
      client: { sourceIps: [], userAgent: "test/1" },
      object: undefined,
      receivedAt: 0,
    },
  );
  record.annotate("example.com/always", "1");
  record.annotate("example.com/patch", "2", "Request");
  return record.event("ResponseComplete", 0).annotations?.map(([key]) => key);
};

test("an annotation with a level is omitted from events below it", () => {
  assert.deepEqual(annotationsAt("Metadata"), ["example.com/always"]);
  assert.deepEqual(annotationsAt("Request"), ["example.com/always", "example.com/patch"]);
  assert.deepEqual(annotationsAt("RequestResponse"), ["example.com/always", "example.com/patch"]);
});
