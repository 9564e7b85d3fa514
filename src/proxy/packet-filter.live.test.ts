// The rules in real kernels: a node with two pods and an external client, each in its own network namespace.
// The same test runs for nftables and iptables.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { needs, until } from "#kit";
import {
  type PacketFilter,
  type RunCommand,
  iptablesFilter,
  nftablesFilter,
  runCommand,
} from "./packet-filter.ts";
import { servicePort } from "./ports.fixture.ts";
import type { Backend } from "./service-ports.ts";

const options = {
  table: "orch-proxy",
  prefix: "ORCH-",
  masqueradeBit: 14,
  masqueradeAll: false,
  clusterCidrs: ["10.244.0.0/24", "fd00:244::/64"],
  nodePortCidrs: [],
  localhostNodePorts: true,
};
const one: Backend = { address: "10.244.0.11", port: 8080, local: true };
const two: Backend = { address: "10.244.0.12", port: 8080, local: true };
const far: Backend = { address: "10.244.0.12", port: 8080, local: false };
const six: Backend = { address: "fd00:244::11", port: 8080, local: true };

interface Network {
  readonly run: RunCommand;
  /** Returns what a client in the namespace receives, or the error. */
  ask(from: "client" | "pod1" | "node", address: string, seconds?: number): Promise<string>;
  end(): Promise<void>;
}

async function network(): Promise<Network> {
  const id = `op${process.pid.toString(36)}`;
  const folder = mkdtempSync(join(tmpdir(), "orch-proxy-"));
  const name = (of: string): string => `${id}${of}`;
  const must = async (line: string): Promise<void> => {
    const { code, stderr } = await runCommand(line.split(" "));
    assert.equal(code, 0, `${line}: ${stderr}`);
  };
  const inside = (of: string, line: string): Promise<void> => must(`ip netns exec ${name(of)} ${line}`);
  const servers: ChildProcess[] = [];
  const all = ["node", "pod1", "pod2", "client"];
  for (const of of all) {
    await must(`ip netns add ${name(of)}`);
    await inside(of, "ip link set lo up");
  }
  await inside("node", "ip link add br0 type bridge");
  await inside("node", "ip addr add 10.244.0.1/24 dev br0");
  await inside("node", "ip addr add fd00:244::1/64 dev br0 nodad");
  await inside("node", "ip link set br0 up");
  await inside("node", "sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
  await inside("node", "sysctl -qw net.ipv4.conf.all.route_localnet=1");
  const wire = async (of: string, port: string): Promise<void> =>
    must(`ip link add ${port} netns ${name("node")} type veth peer name eth0 netns ${name(of)}`);
  for (const at of [1, 2]) {
    await wire(`pod${at}`, `p${at}`);
    await inside("node", `ip link set p${at} master br0 up`);
    await inside("node", `ip link set p${at} type bridge_slave hairpin on`);
    await inside(`pod${at}`, `ip addr add 10.244.0.1${at}/24 dev eth0`);
    await inside(`pod${at}`, `ip addr add fd00:244::1${at}/64 dev eth0 nodad`);
    await inside(`pod${at}`, "ip link set eth0 up");
    await inside(`pod${at}`, "ip route add default via 10.244.0.1");
    await inside(`pod${at}`, "ip -6 route add default via fd00:244::1");
    writeFileSync(join(folder, `pod${at}`), `#!/bin/sh\necho; echo pod${at} from $REMOTE_ADDR\n`, {
      mode: 0o755,
    });
    const served = join(folder, `www${at}`);
    await must(`mkdir -p ${served}/cgi-bin`);
    await must(`mv ${join(folder, `pod${at}`)} ${served}/cgi-bin/who`);
    const program = ["netns", "exec", name(`pod${at}`), "busybox", "httpd", "-f", "-p", "8080", "-h", served];
    servers.push(spawn("ip", program, { stdio: "ignore" }));
  }
  await wire("client", "out");
  await inside("node", "ip addr add 192.0.2.1/24 dev out");
  await inside("node", "ip link set out up");
  await inside("client", "ip addr add 192.0.2.2/24 dev eth0");
  await inside("client", "ip link set eth0 up");
  await inside("client", "ip route add default via 192.0.2.1");
  await inside("node", "ip route add default via 192.0.2.2");
  await inside("node", "ip -6 route add default dev br0");
  // The client reaches 127.0.0.5 through the node.
  servers.push(
    spawn(
      "ip",
      [
        "netns",
        "exec",
        name("node"),
        "busybox",
        "httpd",
        "-f",
        "-p",
        "127.0.0.5:8080",
        "-h",
        join(folder, "www1"),
      ],
      { stdio: "ignore" },
    ),
  );
  await inside("client", "sysctl -qw net.ipv4.conf.all.route_localnet=1");
  await inside("client", "ip rule add pref 2 lookup local");
  await inside("client", "ip rule del pref 0");
  await inside("client", "ip rule add pref 1 to 127.0.0.5 lookup 100");
  await inside("client", "ip route add 127.0.0.5 via 192.0.2.1 src 192.0.2.2 table 100");
  const run: RunCommand = (command, input) =>
    runCommand(["ip", "netns", "exec", name("node"), ...command], input);
  const ask: Network["ask"] = async (from, address, seconds = 60) => {
    const line = ["ip", "netns", "exec", name(from), "curl", "-s", "-g", "-m", String(seconds)];
    const { code, stdout } = await runCommand([...line, `http://${address}/cgi-bin/who`]);
    if (code === 0) return stdout.trim().replace(/\[(::ffff:)?(.*)\]/, "$2");
    return code === 7 ? "refused" : code === 28 ? "timeout" : `curl ended with code ${code}`;
  };
  const answers = (address: string): Promise<boolean> =>
    until(`${address} answers`, async () => (await ask("node", `${address}:8080`, 2)).startsWith("pod"));
  for (const address of ["10.244.0.11", "10.244.0.12", "[fd00:244::11]", "127.0.0.5"]) await answers(address);
  assert.equal(await ask("client", "127.0.0.5:8080"), "pod1 from 192.0.2.2");
  return {
    run,
    ask,
    end: async () => {
      for (const server of servers) server.kill("SIGKILL");
      for (const of of all) await runCommand(["ip", "netns", "del", name(of)]);
      rmSync(folder, { recursive: true });
    },
  };
}

const filters: [
  name: string,
  make: (run: RunCommand) => Promise<PacketFilter | undefined>,
  listing: string[],
][] = [
  ["nftables", (run) => nftablesFilter(options, run), ["nft", "list", "ruleset"]],
  ["iptables", (run) => iptablesFilter(options, run), ["iptables-save"]],
];
for (const [name, make, listing] of filters)
  test(
    `${name}: services reach their pods from pods, the node and outside, and leave no trace`,
    { ...needs("root", "ip", "busybox", "curl", "nft", "iptables") },
    async () => {
      const { run, ask, end } = await network();
      try {
        const filter = (await make(run))!;
        assert.equal(filter.name, name);
        const local = { backends: [one, far], localBackends: [one], externalLocal: true };
        const web = servicePort({
          backends: [one, two],
          nodePort: 30080,
          externalAddresses: ["203.0.113.1"],
        });
        const self = servicePort({ hash: "self", clusterAddress: "10.96.0.2", backends: [one] });
        await filter.write([
          web,
          self,
          servicePort({ hash: "none", clusterAddress: "10.96.0.3" }),
          servicePort({
            hash: "sticky",
            clusterAddress: "10.96.0.4",
            backends: [one, two],
            affinitySeconds: 60,
          }),
          servicePort({ hash: "near", clusterAddress: "10.96.0.5", nodePort: 30081, ...local }),
          servicePort({
            hash: "away",
            clusterAddress: "10.96.0.6",
            nodePort: 30082,
            ...local,
            backends: [far],
            localBackends: [],
          }),
          servicePort({
            hash: "inner",
            clusterAddress: "10.96.0.7",
            internalLocal: true,
            backends: [far],
            localBackends: [],
          }),
          servicePort({
            hash: "guarded",
            clusterAddress: "10.96.0.8",
            backends: [one],
            balancerAddresses: ["203.0.113.8"],
            sourceRanges: ["198.51.100.0/24"],
          }),
          servicePort({
            hash: "open",
            clusterAddress: "10.96.0.9",
            backends: [one],
            balancerAddresses: ["203.0.113.9"],
            sourceRanges: ["192.0.2.0/24", "192.0.2.0/25"],
          }),
          servicePort({ hash: "six", family: 6, clusterAddress: "fd00:96::1", backends: [six] }),
        ]);
        const seen = async (
          from: "client" | "pod1" | "node",
          address: string,
          times: number,
        ): Promise<Set<string>> => {
          const found = new Set<string>();
          for (let each = 0; each < times; each++) found.add((await ask(from, address)).split(" ")[0]!);
          return found;
        };
        assert.deepEqual(await seen("pod1", "10.96.0.1", 20), new Set(["pod1", "pod2"]));
        // Masqueraded connections show the node's address to pods, others that of the client.
        const cases: [from: "client" | "pod1" | "node", address: string, expected: string][] = [
          ["pod1", "10.96.0.2", "pod1 from 10.244.0.1"],
          ["node", "10.96.0.2", "pod1 from 10.244.0.1"],
          ["pod1", "10.96.0.3", "refused"],
          ["node", "10.96.0.3", "refused"],
          ["client", "192.0.2.1:30081", "pod1 from 192.0.2.2"],
          ["client", "192.0.2.1:30082", "timeout"],
          ["node", "192.0.2.1:30082", "pod2 from 10.244.0.1"],
          ["pod1", "192.0.2.1:30082", "pod2 from 10.244.0.11"],
          ["pod1", "10.96.0.7", "timeout"],
          ["client", "203.0.113.8", "timeout"],
          ["client", "127.0.0.5:8080", "timeout"],
          ["node", "127.0.0.5:8080", "pod1 from 127.0.0.1"],
          ["client", "203.0.113.9", "pod1 from 10.244.0.1"],
          ["pod1", "[fd00:96::1]", "pod1 from fd00:244::1"],
          ["node", "127.0.0.1:30081", "pod1 from 10.244.0.1|pod2 from 10.244.0.1"],
        ];
        for (const [from, address, expected] of cases) {
          // A short timeout suffices where no reply is expected.
          const reported = await ask(from, address, expected === "timeout" ? 2 : undefined);
          assert.ok(
            expected.split("|").includes(reported),
            `${address} from ${from}: ${reported}, not ${expected}`,
          );
        }
        assert.deepEqual(await seen("client", "192.0.2.1:30080", 20), new Set(["pod1", "pod2"]));
        assert.deepEqual(await seen("client", "203.0.113.1", 20), new Set(["pod1", "pod2"]));
        assert.equal((await seen("client", "192.0.2.1:30081", 5)).size, 1);
        assert.equal((await seen("pod1", "10.96.0.4", 12)).size, 1);

        // After a change, obsolete rules are removed.
        const bytes = await filter.write([{ ...web, backends: [two], nodePort: 0 }, self]);
        assert.ok(bytes > 0);
        assert.deepEqual(await seen("pod1", "10.96.0.1", 5), new Set(["pod2"]));
        assert.equal(await ask("client", "192.0.2.1:30080"), "refused");
        assert.equal(await filter.isIntact(), true);
        await filter.remove();
        assert.equal(await filter.isIntact(), false);
        const left = await run(listing);
        assert.doesNotMatch(left.stdout, /orch/i);
      } finally {
        await end();
      }
    },
  );
