import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "#base";
import { dialects } from "#dialect";
import { apiCall } from "#kit";
import { authorize } from "./authorize.ts";

async function logged(verbosity: number, verdict: "allow" | "deny"): Promise<string[]> {
  const lines: string[] = [];
  const log = createLog({
    verbosity,
    sink: { write: (line) => void lines.push(String(line)), flush: () => undefined },
  });
  const authorizer = {
    decide: () => ({ verdict, reason: "says who" }),
    rulesFor: () => assert.fail("nobody asks for rules"),
  };
  const filter = authorize(authorizer, dialects.orch, log);
  const call = apiCall({ path: "/api/v1/pods" });
  call.user = { name: "ann", groups: [] };
  const run = async (): Promise<unknown> =>
    await filter.run(call, async () => ({ status: 200, headers: {} }));
  if (verdict === "allow") await run();
  else await assert.rejects(run);
  return lines;
}

test("a failed decision is reported with the whole path, and audited as no decision", async () => {
  const notes: Record<string, string> = {};
  const authorizer = {
    decide: () => ({ verdict: "no opinion" as const, reason: "", internalError: "down" }),
    rulesFor: () => assert.fail("nobody asks for rules"),
  };
  const log = createLog({ verbosity: 0, sink: { write: () => undefined, flush: () => undefined } });
  const call = apiCall({ path: "/api/v1/pods?a=b&c=<" });
  call.user = { name: "ann", groups: [] };
  call.audit = { annotate: (key: string, value: string) => void (notes[key] = value) } as never;
  const reply = await authorize(authorizer, dialects.orch, log).run(call, () =>
    assert.fail("it goes no further"),
  );
  assert.equal(reply.status, 500);
  assert.equal(String(reply.body), 'Internal Server Error: "/api/v1/pods?a=b&amp;c=&lt;": down\n');
  assert.deepEqual(notes, { [dialects.orch.names.audit.reason]: "internal error" });
});

test("denials are logged with their reason from level 4 on", async () => {
  assert.deepEqual(await logged(3, "deny"), []);
  assert.deepEqual(await logged(9, "allow"), []);
  const [line, ...more] = await logged(4, "deny");
  assert.equal(more.length, 0);
  assert.match(line!, /"Forbidden" URI="\/api\/v1\/pods" user="ann" reason="says who" audit-ID=/);
});
