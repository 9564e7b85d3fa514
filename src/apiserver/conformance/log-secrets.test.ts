import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "#base";
import { fakeAgent } from "../tests/virtual/connect/agent.fixture.ts";
import { startServer } from "../library.ts";

const json = { "content-type": "application/json" };

test("the log of a server at the highest verbosity contains no tokens or secrets", async () => {
  let text = "";
  const sink = { write: (line: string) => void (text += line), flush: () => undefined };
  await using hook = await fakeAgent({
    answer: (request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { request, apiVersion, kind } = JSON.parse(body) as Record<string, { uid: string }>;
        response.end(JSON.stringify({ apiVersion, kind, response: { uid: request!.uid, allowed: true } }));
      });
    },
  });
  await using server = await startServer({
    store: "memory",
    log: createLog({ verbosity: 10, sink }),
  });
  const send = async (method: string, path: string, body?: object, more: object = {}): Promise<number> => {
    const headers = { ...json, authorization: "Bearer s3cr3t-header", ...more };
    return (await server.inject({ method, path, headers, ...(body && { body: JSON.stringify(body) }) }))
      .status;
  };
  assert.equal(
    await send("POST", "/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations", {
      metadata: { name: "all" },
      webhooks: [
        {
          name: "all.example.com",
          clientConfig: {
            url: `https://127.0.0.1:${hook.port}/`,
            caBundle: Buffer.from(hook.certificate).toString("base64"),
          },
          rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          failurePolicy: "Ignore",
        },
      ],
    }),
    201,
  );
  const namespace = "/api/v1/namespaces/default";
  const statuses = [
    await send("POST", `${namespace}/secrets`, {
      metadata: { name: "a" },
      stringData: { k: "s3cr3t-value" },
    }),
    await send("POST", `${namespace}/configmaps`, { metadata: { name: "a" }, data: { k: "public-value" } }),
    await send("GET", `${namespace}/secrets/a`),
    await send(
      "PATCH",
      `${namespace}/secrets/a`,
      { stringData: { k: "s3cr3t-patch" } },
      { "content-type": "application/merge-patch+json" },
    ),
    await send("POST", "/apis/authentication.orch.io/v1/tokenreviews", { spec: { token: "s3cr3t-review" } }),
    await send("DELETE", `${namespace}/secrets/a`),
  ];
  assert.deepEqual(statuses, [201, 201, 200, 200, 201, 200]);
  // Other bodies are logged, which shows that the test would detect a leak.
  assert.match(text, /public-value/);
  assert.doesNotMatch(text, /s3cr3t/);
  for (const value of ["s3cr3t-value", "s3cr3t-patch"])
    assert.ok(!text.includes(Buffer.from(value).toString("base64")));
});
