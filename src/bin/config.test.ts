import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { apiVersionOf, dialects } from "#dialect";
import { configCommand } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-config-"));
after(() => rmSync(folder, { recursive: true }));
const apiVersion = apiVersionOf(dialects.orch, {
  group: "nodeagent.config",
  branded: true,
  version: "v1beta1",
});
const good = join(folder, "good.yaml");
const bad = join(folder, "bad.yaml");
writeFileSync(good, `apiVersion: ${apiVersion}\nkind: NodeAgentConfiguration\nmaxPods: 5\n`);
writeFileSync(bad, `apiVersion: ${apiVersion}\nkind: NodeAgentConfiguration\nmaxPodz: 5\nport: 0\n`);

const serverKind = `apiVersion: ${apiVersionOf(dialects.orch, {
  group: "apiserver.config",
  branded: true,
  version: "v1alpha1",
})}\nkind: APIServerConfiguration\n`;
const serverFile = join(folder, "server.yaml");
writeFileSync(
  serverFile,
  `${serverKind}dataDir: /d\neventTtl: 3h\nserviceAccountIssuer: [https://x]\nserviceAccountSigningKeyFile: k\nserviceClusterIpRange: [10.0.0.0/24]\nv: 3\n`,
);
const early = join(folder, "early.yaml");
writeFileSync(early, `${serverKind}storageMediaType: application/yaml\n`);
const badServerFile = join(folder, "bad-server.yaml");
writeFileSync(badServerFile, `${serverKind}eventTTL: 3h\nsecurePort: 0\n`);

async function run(...argv: string[]) {
  let out = "";
  let err = "";
  const code = await configCommand(argv, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { code, out, err };
}

const cases: [name: string, argv: string[], code: number, out: RegExp, err: RegExp][] = [
  [
    "a valid file",
    ["check", good],
    0,
    /all settings are valid; see the notes above/,
    /^note: --container-runtime-endpoint/,
  ],
  [
    "a bad file",
    ["check", bad],
    1,
    /^$/,
    /bad\.yaml:3: maxPodz: unknown field; did you mean maxPods\?[^]*bad\.yaml:4: port: 0: must be from 1 to 65535/,
  ],
  [
    "a file that asks for what is not there yet",
    ["check", early],
    1,
    /^$/,
    /early\.yaml:3: storageMediaType: "application\/yaml": cannot be used/,
  ],
  ["a missing file", ["check", join(folder, "none.yaml")], 1, /^$/, /none\.yaml: cannot read/],
  [
    "a command line that would not start",
    ["check", "--", "nodeagent", "--max-pods=-1"],
    1,
    /^$/,
    /--max-pods=-1[^]*--container-runtime-endpoint[^]*nodeagent would not start/,
  ],
  [
    "a command line that would start",
    ["check", "--", "nodeagent", "--container-runtime-endpoint=unix:///x"],
    0,
    /all settings are valid/,
    /^$/,
  ],
  [
    "a flag",
    ["explain", "--read-only-port"],
    0,
    /field +readOnlyPort\n[^]*default +10255 without a file, 0 with one/,
    /^$/,
  ],
  ["a flag of both programs", ["explain", "tls-min-version"], 0, /orch-apiserver[^]*nodeagent/, /^$/],
  ["a field", ["explain", "nodeStatusReportFrequency"], 0, /program +nodeagent/, /^$/],
  ["an unknown name", ["explain", "max-podz"], 1, /^$/, /did you mean max-pods\?/],
  [
    "where values came from",
    ["explain", "--", "nodeagent", "--config", good, "--port=99"],
    0,
    /--max-pods +5 +file .*good\.yaml:3\n[^]*/,
    /^[^]*$/,
  ],
  ["no verb", [], 1, /^$/, /Usage:/],
  ["a wrong verb", ["chek"], 1, /^$/, /did you mean check\?/],
  ["a wrong program", ["check", "--", "ls"], 1, /^$/, /"ls" is not a known program/],
  [
    "a good file of the server",
    ["check", serverFile],
    0,
    /server\.yaml: all settings are valid; see the notes above/,
    /note: --service-account-key-file[^]*: the signing key needs a file/,
  ],
  [
    "a bad file of the server and a good one of the agent",
    ["check", badServerFile, good],
    1,
    /good\.yaml: all settings are valid/,
    /bad-server\.yaml:3: eventTTL: unknown field; did you mean eventTtl\?[^]*bad-server\.yaml:4: securePort: 0/,
  ],
  [
    "where values of the server came from",
    ["explain", "--", "orch-apiserver", "--config", serverFile, "--event-ttl=2h"],
    0,
    /--event-ttl +2h0m0s +flag --event-ttl\n[^]*--v +3 +file .*server\.yaml:8\n/,
    /^[^]*$/,
  ],
  [
    "a dialect of two words",
    ["--dialect", "kubernetes", "explain", "orchconfig"],
    0,
    /spelled\s+--kubeconfig/,
    /^$/,
  ],
  ["a wrong dialect", ["explain", "v", "--dialect=klingon"], 1, /^$/, /--dialect=klingon: must be/],
];
for (const [name, argv, code, out, err] of cases) {
  test(`orch config answers on ${name}`, async () => {
    const result = await run(...argv);
    assert.equal(result.code, code, result.err);
    assert.match(result.out, out);
    assert.match(result.err, err);
  });
}

test("a migrated file of the server means what the flags meant", async () => {
  const flags = [
    "--store-servers=https://10.0.0.1:2379,https://10.0.0.2:2379",
    "--service-account-issuer=https://x",
    "--service-account-signing-key-file=k",
    "--service-account-key-file=k",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--runtime-config=api/all=true",
    "--watch-cache-sizes=pods#5,deployments.apps#7",
    "--tls-sni-cert-key=a.crt,a.key:x.test",
    "--allow-metric-labels=apiserver_x,verb=GET,LIST",
    "--feature-gates=APIServerTracing=true",
    "--vmodule=server*=4",
    "--store-servers-overrides=/events#https://10.0.0.3:2379;https://10.0.0.4:2379",
    "--event-ttl=90m",
    "--goaway-chance=0.01",
  ];
  const { code, out, err } = await run("migrate", "--", "orch-apiserver", ...flags);
  assert.equal(code, 0, err);
  const file = join(folder, "migrated-server.yaml");
  writeFileSync(file, out);
  const table = async (...argv: string[]): Promise<string[]> =>
    (await run("explain", "--", "orch-apiserver", ...argv)).out
      .split("\n")
      .map((line) => line.replace(/ {2,}(default|taken|file|flag).*$/, "").replace(/ +/g, " "))
      .filter((line) => !/^--config( |$)/.test(line));
  assert.deepEqual(await table("--config", file), await table(...flags));
});

test("a migrated file means what the flags meant", async () => {
  const flags = [
    "--max-pods=7",
    "--orch-reserved=cpu=100m",
    "--cluster-dns=10.0.0.10",
    "--hostname-override=n1",
    "--container-runtime-endpoint=unix:///x",
  ];
  const { code, out } = await run("migrate", "--", "nodeagent", ...flags);
  assert.equal(code, 0);
  assert.match(out, /#   readOnlyPort: without a file this was the default/);
  assert.match(out, /#   --hostname-override=n1/);
  const file = join(folder, "migrated.yaml");
  writeFileSync(file, out);
  const table = async (...argv: string[]): Promise<string[]> =>
    (await run("explain", "--", "nodeagent", ...argv)).out
      .split("\n")
      .map((line) =>
        line.replace(/ {2,}(default|legacy default|derived|taken|file|flag).*$/, "").replace(/ +/g, " "),
      );
  const [before, after] = [await table(...flags), await table("--config", file, "--hostname-override=n1")];
  assert.deepEqual(
    after.filter((line) => !/^--config( |$)/.test(line)),
    before.filter((line) => !/^--config( |$)/.test(line)),
  );
});
