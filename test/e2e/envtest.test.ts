// A suite that starts a control plane from the folder of `orch envtest`, as test harnesses do: definitions,
// webhooks, and watches of custom resources with the public JavaScript client.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  AdmissionregistrationV1Api,
  ApiextensionsV1Api,
  CustomObjectsApi,
  KubeConfig,
  Watch,
} from "@kubernetes/client-node";
import { freePort, programCommand, testAuthority, until } from "#kit";

const folder = mkdtempSync(join(tmpdir(), "orch-envtest-"));
const running: ChildProcess[] = [];
const config = new KubeConfig();
const authority = await testAuthority();
const server = await authority.issue("/CN=server", { ips: ["127.0.0.1"] });
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

before(async () => {
  const [program, ...args] = programCommand("orch");
  const bin = join(folder, "bin");
  execFileSync(program!, [...args, "envtest", "--dir", bin], { stdio: ["ignore", "pipe", "ignore"] });
  const start = (name: string, flags: readonly string[]): void => {
    running.push(spawn(join(bin, name), flags, { stdio: "ignore", detached: true }));
  };
  const store = `http://127.0.0.1:${await freePort()}`;
  const port = await freePort();
  start("etcd", [`--listen-client-urls=${store}`, `--data-dir=${folder}`, "--unsafe-no-fsync=true"]);
  await until("health of the store", async () => (await fetch(`${store}/health`).catch(() => undefined))?.ok);
  const key = file("server.key", server.key);
  start("kube-apiserver", [
    `--etcd-servers=${store}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    `--cert-dir=${folder}`,
    `--tls-cert-file=${file("server.crt", server.cert)}`,
    `--tls-private-key-file=${key}`,
    `--token-auth-file=${file("tokens.csv", "secret,admin,1,system:masters\n")}`,
    "--service-account-issuer=https://localhost/",
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    "--disable-admission-plugins=ServiceAccount",
    "--authorization-mode=RBAC",
  ]);
  config.loadFromOptions({
    clusters: [
      {
        name: "c",
        server: `https://127.0.0.1:${port}`,
        caData: Buffer.from(authority.ca).toString("base64"),
      },
    ],
    users: [{ name: "u", token: "secret" }],
    contexts: [{ name: "x", cluster: "c", user: "u" }],
    currentContext: "x",
  });
  const api = config.makeApiClient(CustomObjectsApi);
  await until("the API server", () =>
    api.getAPIResources({ group: "apps", version: "v1" }).catch(() => undefined),
  );
});
after(() => {
  for (const child of running)
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const widgets = { group: "example.com", version: "v1", namespace: "default", plural: "widgets" };

test(
  "definitions are installed, webhooks called, and custom resources watched",
  { timeout: 120_000 },
  async () => {
    await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({
      body: {
        metadata: { name: "widgets.example.com" },
        spec: {
          group: "example.com",
          scope: "Namespaced",
          names: { plural: "widgets", kind: "Widget" },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: {
                  type: "object",
                  properties: {
                    spec: {
                      type: "object",
                      properties: { size: { type: "integer", _default: 3 }, seen: { type: "boolean" } },
                    },
                  },
                },
              },
            },
          ],
        },
      },
    });
    const api = config.makeApiClient(CustomObjectsApi);
    const list = await until("the kind", () =>
      api.listNamespacedCustomObject(widgets).catch(() => undefined),
    );
    const events: { readonly type: string; readonly seen: boolean | undefined }[] = [];
    const { resourceVersion } = (list as { metadata: { resourceVersion: string } }).metadata;
    const watch = await new Watch(config).watch(
      "/apis/example.com/v1/namespaces/default/widgets",
      { resourceVersion },
      (type, { spec: { seen } }: { spec: { seen?: boolean } }) => void events.push({ type, seen }),
      () => undefined,
    );
    await using webhook = await patchingWebhook();
    await config.makeApiClient(AdmissionregistrationV1Api).createMutatingWebhookConfiguration({
      body: {
        metadata: { name: "seen" },
        webhooks: [
          {
            name: "seen.example.com",
            admissionReviewVersions: ["v1"],
            sideEffects: "None",
            clientConfig: { url: webhook.url, caBundle: Buffer.from(authority.ca).toString("base64") },
            rules: [
              {
                apiGroups: ["example.com"],
                apiVersions: ["v1"],
                operations: ["CREATE"],
                resources: ["widgets"],
              },
            ],
          },
        ],
      },
    });
    const body = (name: string): object => ({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name },
      spec: {},
    });
    const create = async (name: string): Promise<unknown> =>
      ((await api.createNamespacedCustomObject({ ...widgets, body: body(name) })) as { spec: unknown }).spec;
    // A new webhook configuration takes effect shortly after the write, not immediately.
    const spec = await until("the webhook", async () => {
      const made = (await create("a")) as { seen?: boolean };
      if (made.seen) return made;
      await api.deleteNamespacedCustomObject({ ...widgets, name: "a" });
      return undefined;
    });
    assert.deepEqual(spec, { size: 3, seen: true });
    await api.deleteNamespacedCustomObject({ ...widgets, name: "a" });
    for (const type of ["ADDED", "DELETED"])
      await until(`the event ${type}`, async () => events.some((event) => event.type === type && event.seen));
    watch.abort();
  },
);

/** Starts a webhook that sets `spec.seen`. */
async function patchingWebhook(): Promise<{ readonly url: string } & AsyncDisposable> {
  const hook = createServer(server, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { uid } = (JSON.parse(Buffer.concat(chunks).toString()) as { request: { uid: string } }).request;
      const patch = Buffer.from(`[{"op":"add","path":"/spec/seen","value":true}]`).toString("base64");
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          response: { uid, allowed: true, patchType: "JSONPatch", patch },
        }),
      );
    });
  }).listen(0, "127.0.0.1");
  await once(hook, "listening");
  return {
    url: `https://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      hook.closeAllConnections();
      hook.close();
      await once(hook, "close");
    },
  };
}

test("a signal to the process group of a program ends it", async () => {
  const codes = await Promise.all(
    running.toReversed().map(async (child) => {
      const ended = once(child, "exit");
      process.kill(-child.pid!, "SIGTERM");
      return ((await ended) as [number | null])[0];
    }),
  );
  assert.deepEqual(codes, [0, 0]);
});
