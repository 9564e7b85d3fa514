import assert from "node:assert/strict";
import { test } from "node:test";
import { accountOf, codeIn, session } from "./session.ts";

function setUp({
  hash = "",
  stored,
  known = () => 401,
  codes = {},
}: {
  hash?: string;
  stored?: string;
  known?: (token: string | undefined) => number;
  codes?: Record<string, string>;
}) {
  const kept = new Map(stored === undefined ? [] : [["orch.token", stored]]);
  let cleared = false;
  const it = session({
    storage: {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => void kept.set(name, value),
      removeItem: (name) => void kept.delete(name),
    },
    hash: () => hash,
    clearHash: () => (cleared = true),
    fetch: async (path, init) => {
      const bearer = (init.headers as Record<string, string>)["authorization"];
      if (path !== "/ui/login") return new Response("", { status: known(bearer?.replace("Bearer ", "")) });
      const token = codes[(JSON.parse(init.body as string) as { code: string }).code];
      return token === undefined ? new Response("", { status: 401 }) : Response.json({ token });
    },
  });
  return { it, kept, cleared: () => cleared };
}

test("a one-time code is exchanged for a token and removed from the URL", async () => {
  const { it, kept, cleared } = setUp({ hash: "#code=abc", codes: { abc: "t" } });
  assert.deepEqual(await it.begin(), { by: "token", token: "t" });
  assert.ok(cleared());
  assert.equal(kept.get("orch.token"), "t");
});

test("a used code is reported with advice", async () => {
  const begun = await setUp({ hash: "#code=abc" }).it.begin();
  assert.match(begun.by === "nobody" ? (begun.problem ?? "") : "", /orch ui/);
});

test("the token stored for this tab is reused", async () => {
  assert.deepEqual(await setUp({ stored: "t" }).it.begin(), { by: "token", token: "t" });
});

test("a client certificate needs no sign-in", async () => {
  assert.deepEqual(await setUp({ known: () => 200 }).it.begin(), { by: "certificate" });
});

test("other users must sign in", async () => {
  assert.deepEqual(await setUp({ known: () => 403 }).it.begin(), { by: "nobody" });
});

const tokens: [name: string, token: string, by: string][] = [
  ["a known token signs in", "good", "token"],
  ["spaces and the word Bearer do not matter", "  Bearer good\n", "token"],
  ["an unknown token does not", "bad", "nobody"],
  ["what can be no token is not sent", "gööd", "nobody"],
  ["nothing is no token", "", "nobody"],
];
for (const [name, token, by] of tokens)
  test(name, async () => {
    const { it, kept } = setUp({ known: (given) => (given === "good" ? 200 : 401) });
    assert.equal((await it.withToken(token)).by, by);
    assert.equal(kept.has("orch.token"), by === "token");
  });

test("a token without permissions can sign in", async () => {
  assert.equal((await setUp({ known: () => 403 }).it.withToken("t")).by, "token");
});

test("signing out removes the token", () => {
  const { it, kept } = setUp({ stored: "t" });
  it.end();
  assert.equal(kept.size, 0);
});

test("only a fragment that is just a code is one", () => {
  assert.equal(codeIn("#code=a_B-1"), "a_B-1");
  assert.equal(codeIn("#/timeline?code=a"), undefined);
});

test("the account of a service account token is recognized", () => {
  const token = `h.${btoa(JSON.stringify({ sub: "system:serviceaccount:shop:viewer" }))}.s`;
  assert.deepEqual(accountOf(token), { namespace: "shop", name: "viewer" });
  assert.equal(accountOf("admin-token"), undefined);
  assert.equal(accountOf("a.b.c"), undefined);
});
