// Texts for which a regular expression would try every way to divide a run of characters: each of these
// requests once took minutes, during which the server answered no other.
import assert from "node:assert/strict";
import { type Attack, attacks, group, target } from "./target.fixture.ts";

const at = await target();
const core = "/api/v1/namespaces/default";
const long = 500_000;
const pod = (spec: object): object => ({
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});
const fieldRef = { fieldPath: "['".repeat(long) };
const iscsi = { targetPortal: "a", lun: 0, iqn: `${"iqn.2000-01.a:".repeat(long / 10)} ` };
const role = {
  metadata: { name: "r" },
  rules: [{ verbs: ["get"], nonResourceURLs: [`/${"*".repeat(long)}x*`] }],
};
const volume = {
  metadata: { name: "v" },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: "Recycle",
    hostPath: { path: `${"/".repeat(100)}x` },
  },
};

const hostile: [name: string, attack: Attack][] = [
  ["an Accept header of spaces", { method: "GET", path: "/", headers: { accept: `a${" ".repeat(long)}b` } }],
  ["a long quality", { method: "GET", path: "/", headers: { accept: `a/b;q=${"1".repeat(long)}x` } }],
  [
    "a field path of subscripts",
    {
      method: "POST",
      path: `${core}/pods`,
      body: pod({
        containers: [{ name: "c", image: "i", env: [{ name: "E", valueFrom: { fieldRef } }] }],
      }),
    },
  ],
  [
    "a repeated iSCSI name",
    { method: "POST", path: `${core}/pods`, body: pod({ volumes: [{ name: "v", iscsi }] }) },
  ],
  ["a host path of slashes", { method: "POST", path: "/api/v1/persistentvolumes", body: volume }],
  [
    "a URL pattern of stars",
    { method: "POST", path: `/apis/${group("rbac.authorization")}/v1/clusterroles`, body: role },
  ],
];
attacks(hostile, async ({ method, path, ...asking }) => {
  for (const as of ["admin", "clerk"] as const) {
    const { status } = await at.attack(as, method, `${path}?dryRun=All`, asking);
    assert.ok(status >= 200 && status < 500, String(status));
  }
});
