import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { connectionOf, readClientConfig } from "#client";
import { dialects } from "#dialect";
import { claimFolder } from "./claim.ts";
import { createsAuthorityForData, credentialsFor } from "./credentials.ts";
import { ownRuntimeOf } from "./own-runtime.ts";
import { pathsFor } from "./paths.ts";
import { acceptForwarding, ensureNetworkConfig, freeSubnet, removeForwarding } from "./pod-network.ts";
import { choosePort } from "./ports.ts";
import { isAlive, readRunning, writeRunning } from "./running.ts";
import { type Machine, preflight, installRuntime } from "./preflight.ts";
import { firstCommand } from "./status-view.ts";
import { mountsBelow, podGroups, removeLogs } from "./cleanup.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-up-"));
after(() => rmSync(folder, { recursive: true }));

const roots: [name: string, given: string, environment: Record<string, string>, root: string][] = [
  ["the home directory", "", {}, join(homedir(), ".orch", "orch")],
  ["the user's data directory, if there is one", "", { XDG_DATA_HOME: "/data" }, "/data/orch/orch"],
  [
    "the home directory, if the data directory is a relative path",
    "",
    { XDG_DATA_HOME: "data" },
    join(homedir(), ".orch", "orch"),
  ],
  ["the directory given", "/some/where", { XDG_DATA_HOME: "/data" }, "/some/where"],
];
for (const [name, given, environment, root] of roots)
  test(`a cluster is kept in ${name}`, () =>
    assert.equal(pathsFor(dialects.orch, given, environment).root, root));

test("credentials are created once, readable by their owner only, and match each other", () => {
  const paths = pathsFor(dialects.orch, join(folder, "cluster"));
  const options = {
    paths,
    dialect: dialects.orch,
    server: "https://127.0.0.1:6443",
    bindAddress: "127.0.0.1",
    nodeName: "node-1",
    now: Date.now(),
  };
  const made = credentialsFor(options);
  const read = (file: string): string => readFileSync(file, "utf8");
  const before = [made.servingCertificate, made.accountKey, paths.tokens, paths.adminConfig].map(read);
  credentialsFor(options);
  assert.deepEqual(
    [made.servingCertificate, made.accountKey, paths.tokens, paths.adminConfig].map(read),
    before,
  );
  for (const file of [made.servingKey, made.accountKey, paths.tokens, paths.adminConfig, paths.agentConfig])
    assert.equal(statSync(file).mode & 0o777, 0o600, file);
  const authority = new X509Certificate(read(made.authorityFile));
  const serving = new X509Certificate(read(made.servingCertificate));
  assert.ok(serving.verify(authority.publicKey));
  assert.equal(serving.checkIP("127.0.0.1"), "127.0.0.1");
  assert.equal(connectionOf(readClientConfig(paths.adminConfig)).server, "https://127.0.0.1:6443");
  const { certificate } = connectionOf(readClientConfig(paths.agentConfig)).secrets!();
  assert.match(new X509Certificate(certificate!).subject, /CN=system:node:node-1/);
});

test("certificates created while the clock was ahead are valid once it is right", () => {
  const now = Date.now();
  const made = credentialsFor({
    paths: pathsFor(dialects.orch, join(folder, "ahead")),
    dialect: dialects.orch,
    server: "https://127.0.0.1:1",
    bindAddress: "127.0.0.1",
    nodeName: "n",
    now: now + 300 * 86_400_000,
  });
  for (const file of [made.authorityFile, made.servingCertificate, made.callingCertificate])
    assert.ok(new X509Certificate(readFileSync(file)).validFromDate.getTime() < now, file);
});

test("certificates are renewed before they expire, and when their CA has changed", () => {
  const paths = pathsFor(dialects.orch, join(folder, "renewed"));
  const at = (now: number) =>
    credentialsFor({
      paths,
      dialect: dialects.orch,
      server: "https://127.0.0.1:1",
      bindAddress: "127.0.0.1",
      nodeName: "n",
      now,
    });
  const { servingCertificate, authorityFile } = at(Date.now());
  const [first, authority] = [readFileSync(servingCertificate, "utf8"), readFileSync(authorityFile, "utf8")];
  const [agent, network] = [paths.agentConfig, paths.networkConfig].map((path) =>
    connectionOf(readClientConfig(path)),
  );
  const presented = () => [agent, network].map((connection) => connection!.secrets!().certificate);
  const before = presented();
  const admin = readFileSync(paths.adminConfig, "utf8");
  writeFileSync(paths.adminConfig, `${admin}# edited\n`);
  at(Date.now());
  assert.equal(readFileSync(paths.adminConfig, "utf8"), `${admin}# edited\n`);
  at(Date.now() + 340 * 86_400_000);
  assert.ok(presented().every((certificate, index) => certificate && certificate !== before[index]));
  assert.notEqual(readFileSync(paths.adminConfig, "utf8"), `${admin}# edited\n`);
  const second = readFileSync(servingCertificate, "utf8");
  assert.notEqual(second, first);
  assert.equal(readFileSync(authorityFile, "utf8"), authority);
  rmSync(authorityFile);
  rmSync(join(paths.pki, "apiserver.issuer"));
  at(Date.now());
  assert.ok(
    new X509Certificate(readFileSync(servingCertificate, "utf8")).verify(
      new X509Certificate(readFileSync(authorityFile, "utf8")).publicKey,
    ),
  );
});

test("a lost CA or key of service accounts is not replaced while there are certificates of the cluster", () => {
  const paths = pathsFor(dialects.orch, join(folder, "lost"));
  const make = () =>
    credentialsFor({
      paths,
      dialect: dialects.orch,
      server: "https://127.0.0.1:1",
      bindAddress: "127.0.0.1",
      nodeName: "n",
      now: Date.now(),
    });
  const { authorityFile, authorityKeyFile, servingKey, accountKey } = make();
  const [certificate, key] = [readFileSync(authorityFile, "utf8"), readFileSync(authorityKeyFile, "utf8")];
  writeFileSync(authorityKeyFile, readFileSync(servingKey));
  assert.throws(make, /^Error: ca.crt and ca.key do not belong together, but there are certificates/);
  rmSync(authorityKeyFile);
  assert.throws(
    make,
    /^Error: ca.key cannot be found, .* restore the files .* or remove .*apiserver.issuer .* must join again/,
  );
  assert.equal(readFileSync(authorityFile, "utf8"), certificate);
  writeFileSync(authorityKeyFile, key);
  make();
  rmSync(accountKey);
  assert.throws(
    make,
    /^Error: accounts.key cannot be found, .* the tokens of service accounts become invalid$/,
  );
  rmSync(join(paths.pki, "apiserver.issuer"));
  assert.ok(statSync(make().accountKey).isFile());
  assert.equal(readFileSync(authorityFile, "utf8"), certificate);
});

test("a CA created for a restored store is noticed", () => {
  const paths = pathsFor(dialects.orch, join(folder, "restored"));
  assert.equal(createsAuthorityForData(paths), false);
  mkdirSync(join(paths.root, "store"), { recursive: true });
  writeFileSync(join(paths.root, "store", "store.db"), "");
  assert.equal(createsAuthorityForData(paths), true);
  mkdirSync(paths.pki);
  writeFileSync(join(paths.pki, "ca.crt"), "");
  assert.equal(createsAuthorityForData(paths), false);
});

test("the previous port is reused, unless it is taken", async () => {
  const host = "127.0.0.1";
  const taken = createServer().listen(0, host);
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  assert.deepEqual(await choosePort({ host, defaultPort: port, requested: port }), {
    problem: `port ${port} is in use on 127.0.0.1; choose another with --port`,
  });
  const other = await choosePort({ host, defaultPort: 6443, previous: port });
  assert.ok("port" in other && other.port !== port);
  const next = await choosePort({ host, defaultPort: port });
  assert.ok("port" in next && next.port > port, "the next free one after the usual");
  taken.close();
  await once(taken, "close");
  assert.deepEqual(await choosePort({ host, defaultPort: 6443, previous: port }), { port });
});

test("an address that is not assigned to this machine is reported as such, not as a taken port", async () => {
  assert.deepEqual(await choosePort({ host: "192.0.2.77", defaultPort: 6443 }), {
    problem: "this machine has no address 192.0.2.77; choose another with --bind-address",
  });
});

test("a folder is created, locked by one cluster at a time, and free again afterwards", () => {
  const root = join(folder, "deep", "down");
  const release = claimFolder(root)!;
  assert.equal(statSync(root).mode & 0o777, 0o700);
  assert.equal(claimFolder(root), undefined);
  release();
  claimFolder(root)!();
});

test("a file in place of the folder is reported", () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  assert.throws(() => claimFolder(file), { message: `${file} cannot be used: ${file} is not a directory` });
  assert.throws(() => claimFolder(join(file, "below")), /cannot be used: .*not a directory/);
});

const running: [name: string, pid: number, up: boolean, alive: boolean][] = [
  ["a stopped cluster", process.ppid, false, false],
  ["an exited process", 2 ** 22 + 1, true, false],
  ["the current process", process.pid, true, false],
];
for (const [name, pid, up, alive] of running)
  test(`${name} does not count as running`, () =>
    assert.equal(isAlive({ pid, port: 1, dialect: "orch", runtimeEndpoint: "", up }), alive));

test("an invalid record is ignored, and an unreadable one is an error", () => {
  const file = join(folder, "running.json");
  assert.equal(readRunning(file), undefined);
  for (const text of ["{", "{}", '{"pid":5,"port":6,"dialect":"klingon"}']) {
    writeFileSync(file, text);
    assert.equal(readRunning(file), undefined);
  }
  assert.throws(() => readRunning(folder), /EISDIR/);
  writeRunning(file, { pid: 5, port: 6, dialect: "orch", runtimeEndpoint: "unix:///x", up: true });
  assert.deepEqual(readRunning(file), {
    pid: 5,
    port: 6,
    dialect: "orch",
    runtimeEndpoint: "unix:///x",
    up: true,
  });
});

const machine = (parts: Partial<Machine>): Machine => ({
  isRoot: true,
  platform: "linux",
  hostName: "Node-1.example.org",
  isSocket: () => true,
  exists: () => true,
  ...parts,
});
const chances: [name: string, parts: Partial<Machine>, remedy: string | undefined][] = [
  ["root with a runtime", {}, undefined],
  [
    "root without a runtime",
    { isSocket: () => false },
    "orch up --install-runtime installs one; use --runtime-endpoint for an existing one",
  ],
  ["a user with a runtime", { isRoot: false }, "sudo orch up"],
  ["a user without a runtime", { isRoot: false, isSocket: () => false }, "sudo orch up --install-runtime"],
  ["another system", { platform: "darwin" }, "the API server works without it"],
  ["no program", { exists: () => false }, "npm run build"],
  [
    "a host name that cannot name a node",
    { hostName: "my_laptop" },
    "hostnamectl set-hostname changes it; names consist of letters, digits, '-' and '.'",
  ],
];
for (const [name, parts, remedy] of chances) {
  test(`${name}: ${remedy === undefined ? "the agent runs" : `the agent is not started, with the remedy ${remedy}`}`, () => {
    const check = preflight(machine(parts), "unix:///run/x.sock", "/bin/agent");
    assert.equal(check.possible ? undefined : check.remedy, remedy);
  });
}

test("mounts below a folder are listed deepest first, with special characters decoded", () => {
  const table = [
    "36 35 98:0 / /a rw - ext4",
    "37 36 0:1 / /a/pods/u/volumes/v rw - tmpfs",
    "38 36 0:1 / /a/pods/u\\040x rw - tmpfs",
    "39 36 0:1 / /ab rw - tmpfs",
  ].join("\n");
  assert.deepEqual(mountsBelow("/a", table), ["/a/pods/u/volumes/v", "/a/pods/u x"]);
});

test("control groups of pods are found in one hierarchy or in several", () => {
  const root = join(folder, "groups");
  for (const path of [
    "pods.group/podone",
    "pods.group/burstable/podtwo/inner",
    "memory/pods.group/podone",
    "other/podthree",
  ])
    mkdirSync(join(root, path), { recursive: true });
  const found = podGroups(root, "pods.group").map(({ uid, path }) => `${uid} ${path.slice(root.length)}`);
  assert.deepEqual(found.toSorted(), [
    "one /memory/pods.group/podone",
    "one /pods.group/podone",
    "two /pods.group/burstable/podtwo",
  ]);
});

const installations: [
  name: string,
  parts: Partial<Machine>,
  code: number,
  commands: string[],
  problem: RegExp | undefined,
][] = [
  ["requires root", { isRoot: false }, 0, [], /requires root/],
  ["does nothing if everything is installed", {}, 0, [], undefined],
  [
    "requires apt",
    { exists: () => false },
    0,
    [],
    /apt-get is not available; install containerd, runc, iptables, containernetworking-plugins/,
  ],
  [
    "installs missing packages",
    { exists: (path) => ["/usr/bin/apt-get", "/usr/bin/runc", "/opt/cni/bin/bridge"].includes(path) },
    0,
    ["apt-get update -q", "apt-get install -y -q --no-install-recommends containerd iptables"],
    undefined,
  ],
  [
    "reports what failed",
    { exists: (path) => path === "/usr/bin/apt-get" },
    100,
    ["apt-get update -q"],
    /^apt-get update -q failed with code 100$/,
  ],
];
for (const [name, parts, code, commands, problem] of installations) {
  test(`installing a runtime ${name}`, () => {
    const [reported, ran]: string[][] = [[], []];
    // prettier-ignore
    const found = installRuntime(machine(parts), (line) => reported!.push(line), (command) => (ran!.push(command.join(" ")), code));
    assert.deepEqual(
      { reported, ran },
      { reported: commands.map((command) => `running ${command}`), ran: commands },
    );
    if (problem) assert.match(found!, problem);
    else assert.equal(found, undefined);
  });
}

test("pods get addresses that the machine does not use, and keep them", () => {
  assert.equal(freeSubnet(0, ["10.0.0.1", "192.168.0.1"]), "10.128.0.0/24");
  assert.equal(freeSubnet(0, ["10.128.0.7"]), "10.128.1.0/24");
  assert.equal(freeSubnet(2 ** 15 - 1, ["10.255.255.1"]), "10.128.0.0/24");
  const settled = (
    name: string,
    seed: number,
    out: boolean,
  ): { type: string; ipMasq?: boolean; ipam?: { ranges: { subnet: string }[][] } }[] => {
    const file = join(folder, name);
    ensureNetworkConfig({ bridge: "b", seed, folder, file }, () => out);
    return (JSON.parse(readFileSync(file, "utf8")) as { plugins: ReturnType<typeof settled> }).plugins;
  };
  const [bridge, ...others] = settled("inside.conflist", 5, false);
  assert.deepEqual(
    [bridge!.type, bridge!.ipMasq, others],
    ["bridge", false, []],
    "without a packet filter, pods communicate on this machine only",
  );
  assert.deepEqual(settled("inside.conflist", 900, true), [bridge]);
  // prettier-ignore
  assert.deepEqual(settled("outside.conflist", 5, true).map(({ type, ipMasq }) => [type, ipMasq]), [["bridge", true], ["portmap", undefined]]);
});

test("packets of pods are accepted by one rule for each direction, which are removed again", () => {
  const foreign = "FORWARD -j DOCKER-USER";
  const rules = [foreign];
  const run = ([command, ...rest]: readonly string[]): number => {
    const rule = rest.join(" ");
    const found = rules.indexOf(rule);
    if (command === "-A") rules.push(rule);
    else if (found < 0) return 1;
    else if (command === "-D") rules.splice(found, 1);
    return 0;
  };
  acceptForwarding("b", run);
  acceptForwarding("b", run);
  assert.deepEqual(rules, [foreign, "FORWARD -i b -j ACCEPT", "FORWARD -o b -j ACCEPT"]);
  removeForwarding("b", run);
  removeForwarding("b", run);
  assert.deepEqual(rules, [foreign]);
});

test("each cluster's own runtime has separate paths, the same at every start", () => {
  const [one, other] = [ownRuntimeOf("/a/one"), ownRuntimeOf("/a/two")];
  assert.deepEqual(ownRuntimeOf("/a/one"), one);
  assert.ok(one.socket !== other.socket && one.network.bridge !== other.network.bridge);
  assert.ok(one.network.bridge.length <= 15, "names of network interfaces are short");
});

test("the suggested command quotes special paths", () => {
  assert.match(firstCommand("/a/b.conf"), /=\/a\/b\.conf get namespaces$/);
  assert.match(firstCommand("/a b/it's.conf"), /='\/a b\/it'\\''s\.conf' get namespaces$/);
});

test("the logs of the cluster's pods are removed together with the links to them", () => {
  const [logs, links] = [join(folder, "pod-logs"), join(folder, "log-links")];
  mkdirSync(links);
  for (const pod of ["own", "foreign"]) {
    mkdirSync(join(logs, `default_${pod}_${pod}-uid`, "c"), { recursive: true });
    symlinkSync(join(logs, `default_${pod}_${pod}-uid`, "c", "0.log"), join(links, `${pod}.log`));
  }
  removeLogs(new Set(["own-uid"]), logs, links);
  assert.deepEqual(
    [readdirSync(logs), readdirSync(links)],
    [["default_foreign_foreign-uid"], ["foreign.log"]],
  );
});
