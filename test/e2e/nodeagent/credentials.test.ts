// Identity and image credentials of the agent: certificates that it requests and renews through the API, and
// credentials from a provider program on the node.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { chmod, mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { connect } from "node:tls";
import type { CertificateSigningRequest } from "#api";
import { kinds, singleContext, writeClientConfig } from "#client";
import { apiVersionOf } from "#dialect";
import { type Cluster, type PodHome, needsCluster, podHome, startCluster, until } from "#kit";

const password = { username: "reader", password: "from the program" };

describe("credentials of a node", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  before(async () => {
    cluster = await startCluster();
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
  });
  const nodeIsReady = async (): Promise<boolean> => {
    const { status } = await cluster.client.of(kinds.nodes).get(cluster.nodeName);
    return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
  };

  test("an image of a protected registry is pulled with the provider's credentials, which are cached", async () => {
    const { registry } = cluster.containerd;
    const image = await registry.add("guarded:1", { command: ["sh"], files: { "/guarded": "x" } });
    registry.protect(password);
    const programs = join(cluster.folder, "providers");
    await mkdir(programs);
    const record = join(cluster.folder, "provider-was-asked");
    const version = (group: string): string =>
      apiVersionOf(cluster.dialect, { group, branded: true, version: "v1" });
    const answer = {
      kind: "CredentialProviderResponse",
      apiVersion: version("credentialprovider.nodeagent"),
      cacheKeyType: "Registry",
      cacheDuration: "1h",
      auth: { [registry.host]: password },
    };
    await writeFile(
      join(programs, "keys"),
      `#!/bin/sh\ncat >> ${record}\ncat <<END\n${JSON.stringify(answer)}\nEND\n`,
    );
    await chmod(join(programs, "keys"), 0o755);
    const config = join(cluster.folder, "providers.json");
    await writeFile(
      config,
      JSON.stringify({
        kind: "CredentialProviderConfig",
        apiVersion: version("nodeagent.config"),
        providers: [
          {
            name: "keys",
            apiVersion: version("credentialprovider.nodeagent"),
            matchImages: [registry.host],
            defaultCacheDuration: "1h",
          },
        ],
      }),
    );
    await cluster.agent.restart(
      `--image-credential-provider-config=${config}`,
      `--image-credential-provider-bin-dir=${programs}`,
    );
    const always = { image, imagePullPolicy: "Always" };
    assert.equal(await home.output("cat /guarded", always), "x");
    assert.equal(await home.output("cat /guarded", always), "x");
    assert.equal((await readFile(record, "utf8")).trim().split("\n").length, 1, "the answer was kept");
    registry.protect(undefined);
  });

  test("an agent without certificates requests client and serving certificates, and uses the signed ones", async () => {
    const requests = cluster.client.of(kinds.certificateSigningRequests);
    const signed: CertificateSigningRequest[] = [];
    const over = new AbortController();
    const signing = (async () => {
      while (!over.signal.aborted) {
        for (const request of (await requests.list()).items) {
          if (request.status?.certificate) continue;
          await sign(request);
          signed.push(request);
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    })();
    const folder = join(cluster.folder, "bootstrap");
    await mkdir(folder);
    const bootstrap = join(folder, "bootstrap.conf");
    const { url, ca, token } = cluster.apiserver;
    writeClientConfig(bootstrap, singleContext({ name: "bootstrap", server: url, ca, token }));
    await cluster.agent.configure({
      rotateCertificates: true,
      serverTLSBootstrap: true,
      tlsCertFile: undefined,
      tlsPrivateKeyFile: undefined,
    });
    try {
      await cluster.agent.restart(
        `--orchconfig=${join(folder, "agent.conf")}`,
        `--bootstrap-orchconfig=${bootstrap}`,
        `--cert-dir=${join(folder, "pki")}`,
      );
      await until("both requests are signed", async () => signed.length >= 2);
      assert.deepEqual(
        [...new Set(signed.map(({ spec }) => spec.signerName.replace(/^.*\//, "")))].toSorted(),
        ["nodeagent-serving", "orch-apiserver-client-nodeagent"],
      );
      const current = join(folder, "pki", "nodeagent-client-current.pem");
      const pem = await until("the certificate is kept", () =>
        readFile(current, "utf8").catch(() => undefined),
      );
      assert.match(new X509Certificate(pem).subject, new RegExp(`CN=system:node:${cluster.nodeName}$`, "m"));
      assert.match(await readlink(current), /nodeagent-client-\d{4}-.*\.pem$/);
      await until("the server shows its certificate", async () => {
        const shown = await servingCertificate(cluster);
        return shown?.issuer === new X509Certificate(cluster.authority.ca).subject;
      });
      await until("the node is ready", nodeIsReady);
      assert.equal(await home.output("echo runs"), "runs\n");
    } finally {
      over.abort();
      await signing;
    }
  });

  async function sign(request: CertificateSigningRequest): Promise<void> {
    const name = request.metadata.name!;
    const path = `/apis/${apiVersionOf(cluster.dialect, { group: "certificates", branded: true, version: "v1" })}/certificatesigningrequests/${name}`;
    const put = async (subresource: string, body: object): Promise<CertificateSigningRequest> => {
      const answer = await cluster.apiserver.call("PUT", `${path}/${subresource}`, body);
      assert.equal(answer.status, 200, answer.body);
      return JSON.parse(answer.body) as CertificateSigningRequest;
    };
    const { body } = await cluster.apiserver.call("GET", path);
    const conditions = [{ type: "Approved", status: "True", reason: "Test", message: "ok" }];
    const approved = await put("approval", { ...(JSON.parse(body) as object), status: { conditions } });
    const csr = Buffer.from(String(approved.spec.request), "base64").toString();
    const certificate = Buffer.from(await cluster.authority.sign(csr)).toString("base64");
    await put("status", { ...approved, status: { ...approved.status, certificate } });
  }
});

/** Returns the certificate that the agent's server presents; undefined while it has none. */
function servingCertificate({ agent }: Cluster): Promise<X509Certificate | undefined> {
  const { hostname, port } = new URL(agent.url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate());
      socket.destroy();
    });
    socket.once("error", () => resolve(undefined));
  });
}
