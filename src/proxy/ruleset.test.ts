import assert from "node:assert/strict";
import { test } from "node:test";
import { iptablesRules, restoreChanges, restoreInput } from "./iptables.ts";
import { nftablesBuilder } from "./nftables.ts";
import { servicePort } from "./ports.fixture.ts";
import { changeTable, replaceTable } from "./ruleset.ts";
import type { ServicePort } from "./service-ports.ts";

const options = {
  table: "orch-proxy",
  prefix: "ORCH-",
  masqueradeBit: 14,
  masqueradeAll: false,
  clusterCidrs: ["10.244.0.0/16"],
  nodePortCidrs: [],
  localhostNodePorts: false,
};
const one = { address: "10.1.0.1", port: 8080, local: false };
const two = { address: "10.1.0.2", port: 8080, local: true };
const backends = [one, two];

/** Returns the transaction between two sets of ports, without the prefix common to all lines. */
function change(before: readonly ServicePort[], after: readonly ServicePort[]): string[] {
  const builder = nftablesBuilder(options);
  return changeTable(builder.build(4, before), builder.build(4, after))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(" ip orch-proxy", ""));
}
const web = servicePort({ backends });
const guard = "ip daddr 10.96.0.1 ip saddr != { 10.244.0.0/16 } jump mark-masquerade";

const changes: [name: string, before: ServicePort[], after: ServicePort[], lines: string[]][] = [
  ["nothing if nothing changes", [web], [{ ...web }], []],
  [
    "one chain and its elements for a new service",
    [],
    [web],
    [
      "add chain svc-0123456789abcdef",
      `add rule svc-0123456789abcdef ${guard}`,
      "add rule svc-0123456789abcdef meta l4proto tcp dnat to numgen random mod 2 map { 0 : 10.1.0.1 . 8080, 1 : 10.1.0.2 . 8080 }",
      "add element services { 10.96.0.1 . tcp . 80 : goto svc-0123456789abcdef }",
      "add element cluster-addresses { 10.96.0.1 }",
      "add element hairpin { 10.1.0.2 . 10.1.0.2 }",
    ],
  ],
  [
    "one chain if its backends change",
    [web],
    [{ ...web, backends: [one] }],
    [
      "delete element hairpin { 10.1.0.2 . 10.1.0.2 }",
      "flush chain svc-0123456789abcdef",
      `add rule svc-0123456789abcdef ${guard}`,
      "add rule svc-0123456789abcdef meta l4proto tcp dnat to 10.1.0.1:8080",
    ],
  ],
  [
    "a reject rule when the last backend is removed",
    [servicePort({ backends: [one] })],
    [servicePort()],
    [
      "delete element services { 10.96.0.1 . tcp . 80 }",
      "flush chain svc-0123456789abcdef",
      "add element unavailable { 10.96.0.1 . tcp . 80 : goto refuse }",
      "delete chain svc-0123456789abcdef",
    ],
  ],
];
for (const [name, before, after, lines] of changes)
  test(`a transaction contains ${name}`, () => assert.deepEqual(change(before, after), lines));

test("of two services that claim one address, the first keeps it", () => {
  const lines = change([], [web, servicePort({ hash: "other", backends: [one] })]);
  assert.deepEqual(
    lines.filter((line) => line.includes("services {")),
    ["add element services { 10.96.0.1 . tcp . 80 : goto svc-0123456789abcdef }"],
  );
});

test("a table is replaced in the transaction that clears it", () => {
  const [add, remove, again] = replaceTable(nftablesBuilder(options).build(6, [])).split("\n");
  assert.deepEqual(
    [add, remove, again],
    ["add table ip6 orch-proxy", "delete table ip6 orch-proxy", "add table ip6 orch-proxy"],
  );
});

test("clients of a service with affinity are remembered per backend", () => {
  const lines = change([], [servicePort({ backends, affinitySeconds: 60 })]);
  assert.equal(lines.filter((line) => /^add set clients-.*timeout 60s/.test(line)).length, 2);
  assert.equal(lines.filter((line) => /update @clients-/.test(line)).length, 2);
  assert.equal(lines.filter((line) => /ip saddr @clients-.* goto ep-/.test(line)).length, 2);
});

test("another affinity timeout needs other sets", () => {
  const withTimeout = (affinitySeconds: number): ServicePort => servicePort({ backends, affinitySeconds });
  const lines = change([withTimeout(60)], [withTimeout(90)]);
  assert.equal(lines.filter((line) => /^add set clients-.*timeout 90s/.test(line)).length, 2);
  assert.equal(lines.filter((line) => line.startsWith("delete set clients-")).length, 2);
});

test("iptables: obsolete chains are removed in the same transaction", () => {
  const rules = iptablesRules(4, [web], options);
  const text = restoreInput(rules, { nat: new Set(["ORCH-SVC-OLD"]), filter: new Set() });
  const [nat] = text.split("COMMIT");
  assert.match(nat!, /^:ORCH-SVC-OLD - \[0:0\]$/m);
  assert.match(nat!, /^-X ORCH-SVC-OLD$/m);
  assert.match(
    nat!,
    /^-A ORCH-SERVICES -d 10\.96\.0\.1 -p tcp -m tcp --dport 80 -j ORCH-SVC-0123456789ABCDEF$/m,
  );
  assert.match(nat!, /--probability 0\.5000000000 -j ORCH-SEP-/);
  for (const line of nat!.split("\n"))
    assert.ok((/^:(\S+)/.exec(line)?.[1]?.length ?? 0) <= 28, `${line} is a name that iptables takes`);
});

test("iptables: a change of endpoints writes only the chains of its service", () => {
  const ports = [
    servicePort({ backends }),
    servicePort({ hash: "other", clusterAddress: "10.96.0.9", backends }),
  ];
  const before = iptablesRules(4, ports, options);
  const after = iptablesRules(4, [servicePort({ backends: [one] }), ports[1]!], options);
  const lines = restoreChanges(before, after).split("\n");
  const declared = lines.filter((line) => line.startsWith(":")).map((line) => line.slice(0, 10));
  assert.deepEqual(
    lines.filter((line) => line.startsWith("*")),
    ["*nat"],
  );
  assert.deepEqual(declared, [":ORCH-SVC-", ":ORCH-SEP-"]);
  assert.equal(lines.filter((line) => line.startsWith("-X ORCH-SEP-")).length, 1);
  assert.equal(restoreChanges(before, iptablesRules(4, ports, options)), "");
});

test("iptables: an external address without endpoints is left to another service", () => {
  const at = { externalAddresses: ["203.0.113.1"] };
  const ports = [
    servicePort(at),
    servicePort({ hash: "other", clusterAddress: "10.96.0.9", backends, ...at }),
  ];
  const { nat } = iptablesRules(4, ports, options);
  assert.ok(nat.get("ORCH-SERVICES")!.includes("-d 203.0.113.1 -p tcp -m tcp --dport 80 -j ORCH-EXT-OTHER"));
});
