// A replay job: the metric families of a server after all scenarios of the default profile.
//   node metrics.mjs DIALECT PORT      in the copy of the recording
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../setup.mjs";
import { ready, runToEnd, startServer } from "./child.mjs";

const [dialect, port] = process.argv.slice(2);
const data = mkdtempSync(join(tmpdir(), "recorded-metrics-"));
const issuer = `https://${dialect}.default.svc`;
const server = startServer(join(root, "bin", "orch-apiserver"), [
  `--dialect=${dialect}`,
  `--data-dir=${data}`,
  `--secure-port=${port}`,
  "--bind-address=127.0.0.1",
  "--advertise-address=127.0.0.1",
  "--endpoint-reconciler-type=none",
  "--tls-cert-file=server/pki/server.crt",
  "--tls-private-key-file=server/pki/server.key",
  "--client-ca-file=server/pki/ca.crt",
  "--token-auth-file=server/tokens.csv",
  "--authorization-mode=Node,RBAC",
  "--enable-admission-plugins=NodeRestriction",
  "--service-cluster-ip-range=10.0.0.0/24",
  "--allow-privileged=true",
  `--service-account-issuer=${issuer}`,
  "--service-account-signing-key-file=server/pki/sa.key",
  "--service-account-key-file=server/pki/sa.key",
]);
try {
  await ready("the API server", server, port);
  const client = ["--server", `https://127.0.0.1:${port}`, "--ca", "server/pki/ca.crt"];
  const options = [...client, "--users", "server/users.json", "--dialect", dialect, "--quiet"];
  const node = process.execPath;
  await runToEnd(node, ["replay.mjs", ...options, "visible"], { stdio: "ignore" });
  process.exitCode = await runToEnd(node, ["metrics.mjs", "check", ...options.slice(0, -1)]);
} finally {
  await server.stop();
  rmSync(data, { recursive: true, force: true });
}
