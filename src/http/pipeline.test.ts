import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply } from "./call.ts";
import { type Step, pipeline } from "./pipeline.ts";

type Log = string[];
const reply = (status: number): Reply => ({ status, headers: {} });
const passing = (name: string): Step<Log> => ({
  name,
  run: async (log, next) => {
    log.push(`into ${name}`);
    const answer = await next();
    log.push(`out of ${name}`);
    return { ...answer, headers: { ...answer.headers, [name]: "1" } };
  },
});
const answering = (status: number): Step<Log> => ({ name: "answering", run: async () => reply(status) });
const handler = async (log: Log): Promise<Reply> => {
  log.push("handler");
  return reply(200);
};

const cases: [name: string, steps: Step<Log>[], status: number, log: Log][] = [
  ["no steps leave the handler alone", [], 200, ["handler"]],
  [
    "steps run in order and see the answer in reverse",
    [passing("a"), passing("b")],
    200,
    ["into a", "into b", "handler", "out of b", "out of a"],
  ],
  [
    "a step that answers stops the rest",
    [passing("a"), answering(403), passing("b")],
    403,
    ["into a", "out of a"],
  ],
];
for (const [name, steps, status, expected] of cases) {
  test(name, async () => {
    const log: Log = [];
    const answer = await pipeline(steps, handler)(log);
    assert.deepEqual([answer.status, log], [status, expected]);
  });
}

test("an error passes through the steps before it", async () => {
  const rescue: Step<Log> = {
    name: "rescue",
    run: async (_log, next) => await next().catch(() => reply(500)),
  };
  const failing = async (): Promise<Reply> => {
    throw new Error("on purpose");
  };
  assert.equal((await pipeline([rescue, passing("a")], failing)([])).status, 500);
  await assert.rejects(pipeline([passing("a")], failing)([]), /on purpose/);
});

test("one pipeline serves many calls at once", async () => {
  const run = pipeline([passing("a")], handler);
  const logs: Log[] = [[], []];
  await Promise.all(logs.map(run));
  assert.deepEqual(logs[0], logs[1]);
});
