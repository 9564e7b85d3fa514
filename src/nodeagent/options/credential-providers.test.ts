import assert from "node:assert/strict";
import { test } from "node:test";
import { apiVersionOf, dialects } from "#dialect";
import { parseConfigFile } from "#options";
import { credentialProvidersFrom } from "./credential-providers.ts";

const dialect = dialects.orch;
const head = `apiVersion: ${apiVersionOf(dialect, { group: "nodeagent.config", branded: true, version: "v1beta1" })}\nkind: CredentialProviderConfig\n`;
const provider = `providers:\n- name: ecr\n  apiVersion: ${apiVersionOf(dialect, { group: "credentialprovider.nodeagent", branded: true, version: "v1beta1" })}\n  defaultCacheDuration: 12h\n  matchImages: ["*.registry.example"]\n`;
const read = async (text: string) => credentialProvidersFrom(await parseConfigFile("p.yaml", text), dialect);

test("a provider is read with all fields", async () => {
  const { providers, problems } = await read(
    `${head}${provider}  args: [get]\n  env: [{name: A, value: b}]\n`,
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(providers[0]?.defaultCacheDuration, 12 * 3_600_000);
  assert.deepEqual(providers[0]?.env, [{ name: "A", value: "b" }]);
});

const wrong: [name: string, text: string, problem: RegExp][] = [
  ["no providers", head, /providers: is required/],
  ["an empty list", `${head}providers: []\n`, /at least one/],
  [
    "a program with a slash",
    head + provider.replace("name: ecr", "name: a/b"),
    /p\.yaml:4: providers\[0\]\.name: "a\/b" must be the name of a program/,
  ],
  [
    "a glob as port",
    head + provider.replace("*.registry.example", "r.example:*"),
    /must be a registry's domain/,
  ],
  [
    "no cache duration",
    head + provider.replace("  defaultCacheDuration: 12h\n", ""),
    /defaultCacheDuration: is required/,
  ],
  [
    "a negative cache duration",
    head + provider.replace("12h", "-12h"),
    /defaultCacheDuration: "-12h" must be greater than or equal to 0/,
  ],
  [
    "a wrong version",
    head + provider.replace(/apiVersion: .*\n/, "apiVersion: v1\n"),
    /providers\[0\]\.apiVersion: "v1" must be/,
  ],
  ["a name given twice", `${head}${provider}${provider.replace("providers:\n", "")}`, /"ecr" is named twice/],
];
for (const [name, text, problem] of wrong) {
  test(`${name} is reported with its line`, async () =>
    assert.match((await read(text)).problems.join("\n"), problem));
}

test("unknown fields are ignored, and of duplicate fields the last one counts", async () => {
  const { problems } = await read(`${head}${provider}  argz: []\nmore: 1\n`);
  assert.deepEqual(problems, []);
});
