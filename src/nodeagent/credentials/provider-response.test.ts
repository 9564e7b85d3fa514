import assert from "node:assert/strict";
import { test } from "node:test";
import { parseResponse } from "./provider-response.ts";

const version = "credentialprovider.example/v1";
const whole = JSON.stringify({
  apiVersion: version,
  kind: "CredentialProviderResponse",
  cacheKeyType: "Image",
  auth: { "registry.example": { username: "u", password: "p" } },
});

test("a complete response is parsed", () => {
  const { auths, cacheKeyType } = parseResponse(whole, version);
  assert.deepEqual([auths.map(([pattern]) => pattern), cacheKeyType], [["registry.example"], "Image"]);
});

// The texts are the kubelet's, because operators search for them.
const refused: [name: string, stdout: string, why: string][] = [
  ["nothing", "", "unexpected end of JSON input"],
  ["YAML", "apiVersion: v1", "invalid character 'a' looking for beginning of value"],
  ["more than one document", `${whole}\nbye`, "invalid character 'b' after top-level value"],
];
for (const [name, stdout, why] of refused)
  test(`${name} is refused`, () =>
    assert.throws(() => parseResponse(stdout, version), {
      message: `error reading GVK from response: couldn't get version/kind; json parse error: ${why}`,
    }));
