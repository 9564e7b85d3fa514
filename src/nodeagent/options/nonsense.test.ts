import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { apiVersionOf, dialects } from "#dialect";
import { configOf, parseConfigFile, settle } from "#options";
import { nodeagentOptions } from "./options.ts";

const set = nodeagentOptions(dialects.orch);
const all = set.sections.flatMap(({ options }) => options);
const flag = fc.constantFrom(
  ...all
    .flatMap((option) => (option.flag ? [option.flag] : []))
    .filter((name) => name !== "help" && name !== "version"),
);
const field = fc.constantFrom(...all.flatMap((option) => (option.config ? [option.config] : [])));
const word = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "true",
    "-1",
    "0",
    "1Gi",
    "50%",
    "10s",
    "a=b",
    "memory.available<1Gi",
    "0:memory=1Gi",
    "k=v:NoSchedule",
    "__proto__=1",
    "constructor",
  ),
);
const readable = (): boolean => true;

test("settling never throws for any command line, and accepted settings can be written", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.tuple(flag, word).map(([name, value]) => `--${name}=${value}`),
          word,
        ),
        { maxLength: 6 },
      ),
      (argv) => {
        const settled = settle(set, argv, { readable });
        assert.ok(Array.isArray(settled.errors));
        configOf(set, settled.values);
      },
    ),
    { numRuns: 200 },
  );
});

test("settling never throws for any configuration file, and every error names the file", async () => {
  const head = {
    apiVersion: apiVersionOf(dialects.orch, { group: "nodeagent.config", branded: true, version: "v1beta1" }),
    kind: "NodeAgentConfiguration",
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(field, fc.jsonValue()), { maxLength: 5 }),
      fc.jsonValue(),
      async (pairs, stray) => {
        const nested: Record<string, unknown> = { ...head, stray };
        for (const [path, value] of pairs)
          nested[path.split(".")[0]!] = path.includes(".") ? { [path.split(".")[1]!]: value } : value;
        const settled = settle(set, ["--container-runtime-endpoint=unix:///x", "--orchconfig=x"], {
          files: [await parseConfigFile("f.yaml", JSON.stringify(nested))],
          readable,
        });
        assert.ok(
          settled.errors.every((line) => line.includes("f.yaml") || line.includes("--")),
          settled.errors.join("\n"),
        );
        assert.ok(settled.warnings.some((line) => line.includes("stray: unknown field")));
      },
    ),
    { numRuns: 100 },
  );
});

test("reading a file never throws for any content", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ maxLength: 200, unit: fc.constantFrom(..."abc: -{}[]\n'\"|>&*#!%@`0,?".split("")) }),
      async (text) => {
        const file = await parseConfigFile("f.yaml", text);
        assert.ok(file.root !== undefined || file.problems.length > 0);
      },
    ),
    { numRuns: 600 },
  );
});
