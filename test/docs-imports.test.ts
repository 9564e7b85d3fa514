import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

for (const file of ["README.md", "docs/library.md"]) {
  test(`the imports shown in ${file} exist`, async () => {
    const imports = [
      ...readFileSync(join(root, file), "utf8").matchAll(/^import \{ (.+) \} from "(orch\/\w+)";$/gm),
    ];
    assert.ok(imports.length > 0);
    for (const [, names, door] of imports) {
      const exported = Object.keys((await import(door!)) as object);
      for (const name of names!.split(", ")) assert.ok(exported.includes(name), `${door} exports no ${name}`);
    }
  });
}

for (const [file, room] of [
  ["docs/ways/the-way-of-a-request.md", "src"],
  ["docs/ways/the-way-of-a-pod.md", "src/nodeagent"],
] as const)
  test(`${file} lists existing files and their number`, () => {
    const text = readFileSync(join(root, file), "utf8");
    const hops = [...text.matchAll(/^\| (\d+) \| `([^`]+)` \|/gm)];
    for (const [at, [, number, name]] of hops.entries()) {
      assert.equal(Number(number), at + 1);
      assert.ok(existsSync(join(root, room, name!)), `${file} names ${name}`);
    }
    assert.match(text, new RegExp(`^These are ${hops.length} `, "m"));
  });

test("the documented use of the client works as written", async () => {
  const snippet = /## The client\n[^]*?```ts\n([^]*?)```[^]*?```ts\n([^]*?)```/.exec(
    readFileSync(join(root, "docs/library.md"), "utf8"),
  )!;
  const { ApiError, kinds, startServer } = await import("orch/apiserver");
  await using server = await startServer({ store: "memory" });
  const signal = AbortSignal.timeout(1);
  const code = `export const run = async (ApiError, kinds, server, signal) => {\n${snippet[1]}${snippet[2]}return await maps.list({ namespace: "default" });\n};`;
  const { run } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    run: (...given: unknown[]) => Promise<{ items: unknown[] }>;
  };
  assert.deepEqual((await run(ApiError, kinds, server, signal)).items, []);
});
