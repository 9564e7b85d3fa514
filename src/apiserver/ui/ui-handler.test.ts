import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { inject } from "#http";
import { pageFiles } from "./page-files.ts";
import type { SignInAttempt } from "./sign-in-audit.ts";
import { builtPageFolder, withUi } from "./ui-handler.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-page-"));
test.after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "index.html"), "<!doctype html>");
writeFileSync(join(folder, "app-1.js"), "let a");
writeFileSync(join(folder, "app-1.js.br"), brotliCompressSync("let a"));
writeFileSync(join(folder, "notes.txt"), "not a file of the page");

const rest = () => Promise.resolve({ status: 418, headers: {} });
const login = {
  exchange: (code: string) =>
    code === "right" ? { token: "t", expires: 0, user: { name: "admin", groups: [] } } : undefined,
};
const attempts: (string | undefined)[] = [];
const onSignIn = (_: unknown, { user }: SignInAttempt): void => void attempts.push(user?.name);
const handle = withUi(rest, { files: pageFiles(folder), login, onSignIn });
const get = (path: string, headers: Record<string, string> = {}) =>
  inject(handle, { method: "GET", path, headers });
const json = { "content-type": "application/json" };

const paths: [path: string, status: number][] = [
  ["/ui/", 200],
  ["/ui", 308],
  ["/ui/index.html", 200],
  ["/ui/app-1.js", 200],
  ["/ui/notes.txt", 404],
  ["/ui/../secret", 404],
  ["/ui/%2e%2e/secret", 404],
  ["/ui/app-1.js.br", 404],
  ["/uix", 418],
  ["/u", 418],
  ["/", 418],
  ["/api/v1/pods", 418],
];
for (const [path, status] of paths)
  test(`GET ${path} is answered with ${status}`, async () => assert.equal((await get(path)).status, status));

test("every response of the page forbids inline code, frames, other origins and type sniffing", async () => {
  for (const path of ["/ui/", "/ui/app-1.js", "/ui/none", "/ui"]) {
    const { headers } = await get(path);
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cross-origin-resource-policy"], "same-origin");
    assert.equal(headers["access-control-allow-origin"], undefined);
  }
});

test("files with hashed names are cacheable, and the page is revalidated", async () => {
  assert.match(String((await get("/ui/app-1.js")).headers["cache-control"]), /immutable/);
  const first = await get("/ui/");
  assert.equal(first.headers["cache-control"], "no-cache");
  assert.equal((await get("/ui/", { "if-none-match": String(first.headers["etag"]) })).status, 304);
});

test("files are sent with brotli if the client accepts it", async () => {
  assert.equal(
    (await get("/ui/app-1.js", { "accept-encoding": "gzip, br" })).headers["content-encoding"],
    "br",
  );
  assert.equal(
    (await get("/ui/app-1.js", { "accept-encoding": "gzip" })).headers["content-encoding"],
    undefined,
  );
});

test("only GET and HEAD are allowed", async () => {
  assert.equal((await inject(handle, { method: "POST", path: "/ui/" })).status, 405);
});

test("a server without a built page says so", async () => {
  const bare = withUi(rest, { files: pageFiles(join(folder, "none")) });
  const reply = await inject(bare, { method: "GET", path: "/ui/" });
  assert.equal(reply.status, 404);
  assert.match(await reply.text(), /not part of this build/);
});

const logins: [
  name: string,
  request: { method?: string; headers?: Record<string, string>; body?: string },
  number,
][] = [
  ["the right code gets a token", { headers: json, body: '{"code":"right"}' }, 200],
  ["a wrong code gets none", { headers: json, body: '{"code":"wrong"}' }, 401],
  ["a body with invalid JSON gets none", { headers: json, body: "code=right" }, 401],
  ["an oversized body gets none", { headers: json, body: `{"code":"right","x":"${"x".repeat(2000)}"}` }, 401],
  ["a form gets none", { headers: { "content-type": "text/plain" }, body: '{"code":"right"}' }, 415],
  [
    "another origin gets none",
    { headers: { ...json, "sec-fetch-site": "cross-site" }, body: '{"code":"right"}' },
    403,
  ],
  ["a GET request gets none", { method: "GET", headers: json }, 405],
];
for (const [name, request, status] of logins)
  test(`sign-in: ${name}`, async () => {
    const reply = await inject(handle, { method: "POST", path: "/ui/login", ...request });
    assert.equal(reply.status, status);
    if (status === 200) assert.equal(reply.headers["cache-control"], "no-store");
    assert.deepEqual(attempts.splice(0), status === 200 ? ["admin"] : status === 401 ? [undefined] : []);
  });

test("sign-in by link is not found if it is not configured", async () => {
  const closed = withUi(rest, { files: pageFiles(folder) });
  const reply = await inject(closed, {
    method: "POST",
    path: "/ui/login",
    headers: json,
    body: '{"code":"right"}',
  });
  assert.equal(reply.status, 404);
});

test("the page is next to the bundled programs, wherever the code runs from", () => {
  assert.equal(builtPageFolder("file:///p/dist/pack/apiserver.js"), "/p/dist/pack/ui/");
  assert.equal(builtPageFolder("file:///p/src/apiserver/ui/ui-handler.ts"), "/p/dist/pack/ui/");
  assert.equal(builtPageFolder("file:///p/dist/apiserver/ui/ui-handler.js"), "/p/dist/pack/ui/");
});

test("opening the page is reported, requests for its other files are not", async () => {
  let opened = 0;
  const watched = withUi(rest, { files: pageFiles(folder), onOpen: () => opened++ });
  for (const path of ["/ui/app-1.js", "/ui", "/ui/login", "/uix"])
    await inject(watched, { method: "GET", path });
  assert.equal(opened, 0);
  await inject(watched, { method: "GET", path: "/ui/" });
  assert.equal(opened, 1);
});
