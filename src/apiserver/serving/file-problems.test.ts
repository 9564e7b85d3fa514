import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { selfSigned, writePair } from "#authn";
import { dialects } from "#dialect";
import { settle } from "#options";
import { apiserverOptions } from "../options/options.ts";
import { fileProblems } from "./file-problems.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-files-"));
after(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => join(folder, name);
for (const name of ["one", "two"])
  writePair(
    selfSigned({ commonName: name }, [name], { now: Date.now(), days: 1 }),
    file(`${name}.crt`),
    file(`${name}.key`),
  );
writeFileSync(file("nonsense"), "token-only\n");

const base = [
  "--store-servers=memory://",
  "--service-account-issuer=https://x",
  `--service-account-signing-key-file=${file("one.key")}`,
  `--service-account-key-file=${file("one.key")}`,
];
const problems = (...flags: string[]): string[] => {
  const settled = settle(apiserverOptions(dialects.orch), [...base, ...flags]);
  assert.deepEqual(settled.errors, []);
  return fileProblems(settled.values, dialects.orch);
};

test("valid files are accepted", () => {
  assert.deepEqual(
    problems(
      `--tls-cert-file=${file("one.crt")}`,
      `--tls-private-key-file=${file("one.key")}`,
      `--client-ca-file=${file("two.crt")}`,
    ),
    [],
  );
});

const wrong: [flag: string, ...flags: string[]][] = [
  ["--tls-cert-file", `--tls-cert-file=${file("one.crt")}`, `--tls-private-key-file=${file("two.key")}`],
  ["--tls-sni-cert-key", `--tls-sni-cert-key=${file("one.crt")},${file("two.key")}`],
  ["--client-ca-file", `--client-ca-file=${file("nonsense")}`],
  ["--token-auth-file", `--token-auth-file=${file("nonsense")}`],
  ["--service-account-key-file", `--service-account-key-file=${file("nonsense")}`],
  [
    "--authorization-policy-file",
    "--authorization-mode=ABAC",
    `--authorization-policy-file=${file("nonsense")}`,
  ],
  ["--audit-policy-file", "--audit-log-path=-", `--audit-policy-file=${file("nonsense")}`],
  ["--encryption-provider-config", `--encryption-provider-config=${file("nonsense")}`],
  [
    "--nodeagent-client-certificate",
    `--nodeagent-client-certificate=${file("one.crt")}`,
    `--nodeagent-client-key=${file("two.key")}`,
  ],
];
for (const [flag, ...flags] of wrong) {
  test(`an unusable file of ${flag} is reported with its name`, () => {
    const found = problems(...flags);
    assert.equal(found.length, 1);
    assert.ok(found[0]!.startsWith(`${flag}: `) && found[0]!.includes(folder), found.join());
  });
}

test("flags are reported with their names in the dialect", () => {
  const flag = dialects.kubernetes.spelling.flag("nodeagent-certificate-authority");
  const { values } = settle(apiserverOptions(dialects.kubernetes), [`--${flag}=${file("nonsense")}`]);
  assert.ok(fileProblems(values, dialects.kubernetes)[0]!.startsWith(`--${flag}: `));
});
