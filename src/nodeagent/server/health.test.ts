import assert from "node:assert/strict";
import { test } from "node:test";
import { type Call, parseQuery } from "#http";
import { healthRoutes } from "./health.ts";

let problem: string | undefined;
const found: string[] = [];
const routes = healthRoutes(
  [
    { name: "ping", check: () => undefined },
    {
      name: "syncloop",
      check: () => {
        if (problem !== undefined) throw new Error(problem);
      },
    },
  ],
  { checked: (...all) => found.push(all.join(" ")) },
);
const ask = async (path: string): Promise<string> => {
  const [before = "", search = ""] = path.split("?");
  const route = routes.find((each) => "path" in each && each.path === before);
  assert.ok(route && "answer" in route);
  const reply = await route.answer({ call: {} as Call, query: parseQuery(search), parts: {} });
  return `${reply.status} ${String(reply.body)}`;
};

const cases: [path: string, problem: string | undefined, answer: string][] = [
  ["/healthz", undefined, "200 ok"],
  ["/healthz?verbose", undefined, "200 [+]ping ok\n[+]syncloop ok\nhealthz check passed\n"],
  [
    "/healthz?verbose=1&exclude=ping&exclude=z&exclude=a",
    undefined,
    '200 [+]ping excluded: ok\n[+]syncloop ok\nwarn: some health checks cannot be excluded: no matches for "a","z"\nhealthz check passed\n',
  ],
  ["/healthz", "late", "500 [+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n"],
  ["/healthz?exclude=syncloop", "late", "200 ok"],
  ["/healthz/ping", "late", "200 ok"],
  ["/healthz/syncloop", "late", "500 internal server error: late\n"],
];
for (const [path, wrong, answer] of cases) {
  test(`${path} while ${wrong ?? "all is well"}`, async () => {
    problem = wrong;
    assert.equal(await ask(path), answer);
  });
}

test("results of the aggregate endpoint are recorded, those of a single check are not", async () => {
  problem = "late";
  found.length = 0;
  await ask("/healthz");
  await ask("/healthz/ping");
  assert.deepEqual(found, ["healthz ping true", "healthz syncloop false"]);
});
