// The client configuration that the agent writes after bootstrapping: the server of the bootstrap
// configuration, and the link to the current certificate.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { writePrivate } from "#base";
import type { ClientConfig } from "#client";

/** Formats a YAML string; quotes it if a plain scalar would not be read as a string. */
const scalar = (text: string): string =>
  /^[\w./:@-]+$/.test(text) && !/^[\d.-]+$/.test(text) ? text : JSON.stringify(text);

export function clientConfigText(bootstrap: ClientConfig, certificateFile: string): string {
  const context = bootstrap.contexts.find(({ name }) => name === bootstrap["current-context"])?.context;
  const cluster = bootstrap.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const settings = Object.entries({
    "certificate-authority": cluster?.["certificate-authority"],
    "certificate-authority-data": cluster?.["certificate-authority-data"],
    "insecure-skip-tls-verify": cluster?.["insecure-skip-tls-verify"] ? "true" : undefined,
    server: cluster?.server,
    "tls-server-name": cluster?.["tls-server-name"],
  }).flatMap(([name, value]) =>
    value ? [`    ${name}: ${name.startsWith("insecure") ? value : scalar(value)}`] : [],
  );
  return [
    "apiVersion: v1",
    "clusters:",
    "- cluster:",
    ...settings,
    "  name: default-cluster",
    "contexts:",
    "- context:",
    "    cluster: default-cluster",
    "    namespace: default",
    "    user: default-auth",
    "  name: default-context",
    "current-context: default-context",
    "kind: Config",
    "preferences: {}",
    "users:",
    "- name: default-auth",
    "  user:",
    `    client-certificate: ${scalar(certificateFile)}`,
    `    client-key: ${scalar(certificateFile)}`,
    "",
  ].join("\n");
}

export function writeClientConfig(path: string, bootstrap: ClientConfig, certificateFile: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writePrivate(path, clientConfigText(bootstrap, certificateFile));
}
