import assert from "node:assert/strict";
import { test } from "node:test";
import { apiVersionOf, dialects } from "#dialect";
import { parseConfigFile } from "#options";
import { credentialProvidersFrom, imageMatches } from "./credential-providers.ts";

const dialect = dialects.orch;
const head = `apiVersion: ${apiVersionOf(dialect, { group: "nodeagent.config", branded: true, version: "v1beta1" })}\nkind: CredentialProviderConfig\n`;
const provider = `providers:\n- name: ecr\n  apiVersion: ${apiVersionOf(dialect, { group: "credentialprovider.nodeagent", branded: true, version: "v1beta1" })}\n  defaultCacheDuration: 12h\n  matchImages: ["*.registry.example"]\n`;
const read = async (text: string) => credentialProvidersFrom(await parseConfigFile("p.yaml", text), dialect);

test("a provider is read whole", async () => {
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
  ["an unknown field", `${head}${provider}  argz: []\n`, /p\.yaml:\d+: providers\[0\]\.argz: unknown field/],
  [
    "a program with a slash",
    head + provider.replace("name: ecr", "name: a/b"),
    /p\.yaml:4: providers\[0\]\.name: "a\/b" must be the name of a program/,
  ],
  [
    "a glob in the path",
    head + provider.replace("*.registry.example", "r.example/*"),
    /may have \* in the domain only/,
  ],
  [
    "no cache duration",
    head + provider.replace("  defaultCacheDuration: 12h\n", ""),
    /defaultCacheDuration: is required/,
  ],
  [
    "a wrong version",
    head + provider.replace(/apiVersion: .*\n/, "apiVersion: v1\n"),
    /providers\[0\]\.apiVersion: "v1" must be/,
  ],
  ["a name given twice", `${head}${provider}${provider.replace("providers:\n", "")}`, /"ecr" is named twice/],
  ["a variable without value", `${head}${provider}  env: [{name: A}]\n`, /env\[0\]\.value: is required/],
];
for (const [name, text, problem] of wrong) {
  test(`${name} is told with its line`, async () =>
    assert.match((await read(text)).problems.join("\n"), problem));
}

const matches: [pattern: string, image: string, is: boolean][] = [
  ["registry.example", "registry.example/app:1", true],
  ["*.registry.example", "a.registry.example/app", true],
  ["*.registry.example", "a.b.registry.example/app", false],
  ["*.registry.example", "registry.example/app", false],
  ["sub.*.tld", "sub.mid.tld/app", true],
  ["registry.*", "registry.io/app", true],
  ["app*.example", "app7.example/x", true],
  ["registry.example:8080", "registry.example:8080/app", true],
  ["registry.example:8080", "registry.example/app", false],
  ["registry.example", "registry.example:8080/app", true],
  ["registry.example/team", "registry.example/team/app", true],
  ["registry.example/team", "registry.example/other/app", false],
  ["registry.example", "registryxexample/app", false],
];
for (const [pattern, image, is] of matches) {
  test(`${pattern} ${is ? "means" : "does not mean"} ${image}`, () =>
    assert.equal(imageMatches(pattern, image), is));
}
