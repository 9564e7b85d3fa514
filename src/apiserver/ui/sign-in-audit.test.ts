import assert from "node:assert/strict";
import { test } from "node:test";
import { type Audit, type AuditEvent, auditMetrics } from "#audit";
import { createMetrics, virtualClock } from "#base";
import { inject } from "#http";
import { auditSignIn } from "./sign-in-audit.ts";

const levels: [name: string, level: "None" | "Metadata", events: number][] = [
  ["a sign-in attempt is recorded according to the policy", "Metadata", 1],
  ["a sign-in attempt at level None is not recorded", "None", 0],
];
for (const [name, level, count] of levels)
  test(name, async () => {
    const events: AuditEvent[] = [];
    const requests: string[] = [];
    const audit = {
      policy: () => ({
        configFor: ({ verb, path }: { readonly verb: string; readonly path: string }) => {
          requests.push(`${verb} ${path}`);
          return { level, omitStages: new Set(), omitManagedFields: false };
        },
        warnings: [],
      }),
      sink: { write: async (event: AuditEvent) => events.push(event) > 0, flush: () => undefined },
      metrics: auditMetrics(createMetrics()),
    } as unknown as Audit;
    const record = auditSignIn(audit, virtualClock(Date.UTC(2030, 0, 1)));
    const handle = async (call: Parameters<typeof record>[0]) => {
      await record(call, { user: { name: "admin", groups: ["masters"] }, status: 200 });
      return { status: 200, headers: {} };
    };
    const request = {
      method: "POST",
      path: "/ui/login",
      headers: { "user-agent": "browser" },
      body: "secret",
    };
    await inject(handle, request);
    assert.deepEqual(requests, ["post /ui/login"]);
    assert.equal(events.length, count);
    for (const event of events) {
      assert.equal(event.requestUri, "/ui/login");
      assert.equal(event.user?.name, "admin");
      assert.equal(event.responseStatus?.code, 200);
      assert.doesNotMatch(JSON.stringify(event), /secret/);
    }
  });
