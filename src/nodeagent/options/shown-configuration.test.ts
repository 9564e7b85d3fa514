import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { apiVersionOf, dialects } from "#dialect";
import { parseConfigFile, settle } from "#options";
import { nodeagentOptions } from "./options.ts";
import { shownConfiguration } from "./shown-configuration.ts";

const dialect = dialects.orch;

async function shown(
  file: Record<string, unknown>,
  argv: readonly string[] = [],
): Promise<Record<string, unknown>> {
  const head = {
    apiVersion: apiVersionOf(dialect, { group: "nodeagent.config", branded: true, version: "v1beta1" }),
    kind: dialect.spelling.word("NodeAgentConfiguration"),
  };
  const parsed = await parseConfigFile("config.yaml", JSON.stringify({ ...head, ...file }));
  const { values } = settle(nodeagentOptions(dialect), ["--cert-dir=/pki", ...argv], {
    files: [parsed],
    readable: () => true,
  });
  return shownConfiguration(dialect, values);
}

test("empty values are omitted, zero values only where that equals being unset", async () => {
  const config = await shown({
    containerRuntimeEndpoint: "unix:///run/x.sock",
    readOnlyPort: 0,
    healthzPort: 0,
    registryPullQPS: 0,
    failSwapOn: false,
    evictionHard: { "memory.available": "1Mi" },
  });
  for (const name of [
    "readOnlyPort",
    "podCIDR",
    "runOnce",
    "evictionSoft",
    "registerWithTaints",
    "imageServiceEndpoint",
  ])
    assert.equal(name in config, false, name);
  assert.deepEqual(
    [config["healthzPort"], config["registryPullQPS"], config["failSwapOn"], config["memorySwap"]],
    [0, 0, false, {}],
  );
  assert.deepEqual(Object.keys(config).slice(0, 2), ["enableServer", "syncFrequency"]);
});

test("a self-signed certificate is shown, a requested one is not", async () => {
  const endpoint = { containerRuntimeEndpoint: "unix:///run/x.sock" };
  assert.equal((await shown(endpoint))["tlsCertFile"], "/pki/nodeagent.crt");
  assert.equal(
    (await shown({ ...endpoint, tlsCertFile: "/a", tlsPrivateKeyFile: "/b" }))["tlsPrivateKeyFile"],
    "/b",
  );
  assert.equal("tlsCertFile" in (await shown({ ...endpoint, serverTLSBootstrap: true })), false);
});

test("a recorded configuration is reproduced", async (t) => {
  const url = new URL("../../../../shared/reference/node/http/configz.json", import.meta.url);
  if (!existsSync(url)) return t.skip("no recorded configuration beside the repo");
  const recorded = JSON.parse(readFileSync(url, "utf8")) as {
    json: { nodeagentconfig: Record<string, unknown> };
  };
  const expected = recorded.json.nodeagentconfig;
  const { tlsCertFile: _, tlsPrivateKeyFile: __, ...given } = expected;
  const { logging: ___, ...file } = given;
  const { tlsCertFile: certificate, tlsPrivateKeyFile: key, logging: ____, ...config } = await shown(file);
  assert.deepEqual([certificate, key], ["/pki/nodeagent.crt", "/pki/nodeagent.key"]);
  assert.deepEqual(config, file);
});
