import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import type { AdmissionPlugin } from "#admission";
import { selfSigned } from "#authn";
import { createLog } from "#base";
import { certificateDetail, logCertificates, logGroups, logPlugins } from "./start-log.ts";

const now = Date.UTC(2026, 0, 2);
const pair = selfSigned({ commonName: "server" }, ["localhost", "127.0.0.1"], { now, days: 10 });

function linesAt(verbosity: number, log: (log: ReturnType<typeof createLog>) => void): string[] {
  const lines: string[] = [];
  log(
    createLog({
      verbosity,
      sink: { write: (line) => void lines.push(String(line)), flush: () => undefined },
    }),
  );
  return lines;
}

test("groups and plug-ins are logged from level 1 on, the plug-ins in their order", () => {
  const plugins = [
    { name: "First", handles: [], mutate: async () => undefined },
    { name: "Both", handles: [], mutate: async () => undefined, validate: async () => [] },
  ] as unknown as AdmissionPlugin[];
  const tell = (log: ReturnType<typeof createLog>): void => {
    logGroups(log, { groups: () => ["apps", "batch"].map((name) => ({ name, versions: [] })) });
    logPlugins(log, plugins);
  };
  assert.deepEqual(linesAt(0, tell), []);
  const text = linesAt(1, tell).join("");
  assert.equal(text.match(/Enabling API group/g)?.length, 2);
  assert.match(
    text,
    /Loaded 2 mutating admission controller\(s\) successfully in the following order: First,Both\./,
  );
  assert.match(
    text,
    /Loaded 1 validating admission controller\(s\) successfully in the following order: Both\./,
  );
});

test("certificates are logged from level 2 on", () => {
  const tell = (log: ReturnType<typeof createLog>): void =>
    logCertificates(log, { serving: pair.certificate, clientCas: { "ca.crt": pair.certificate }, now });
  assert.deepEqual(linesAt(1, tell), []);
  const text = linesAt(2, tell).join("");
  assert.match(text, /"Loaded client CA" index=0 certName="client-ca-bundle::ca\.crt" certDetail=/);
  assert.match(text, /"Loaded serving cert" certName="serving-cert" certDetail=/);
});

test("a certificate is described by its names, its issuer and its validity", () => {
  const detail = certificateDetail(new X509Certificate(pair.certificate), now);
  assert.match(detail, /^"server" \[.*\] validServingFor=\[.*localhost.*\] issuer="<self>" \(/);
  assert.match(detail, /to 2026-01-1\d .* \(now=2026-01-02 00:00:00 \+0000 UTC\)\)$/);
});
