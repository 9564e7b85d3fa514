import assert from "node:assert/strict";
import { test } from "node:test";
import { WriteState } from "#admission";
import type { Service } from "#api";
import { ApiError, fieldErrorText, virtualClock } from "#base";
import { kinds } from "#client";
import type { PendingReservations } from "#registry";
import { startServer } from "../library.ts";
import { addressRange, canonicalAddress } from "./address-range.ts";
import { type ClusterServiceAllocator, serviceAllocator } from "./service-allocator.ts";
import { claimsOf } from "./service-claims.ts";

const ranges: [
  text: string,
  size: number,
  first: string,
  last: string,
  inside: string[],
  outside: string[],
][] = [
  [
    "10.0.0.0/24",
    254,
    "10.0.0.1",
    "10.0.0.254",
    ["10.0.0.7"],
    ["10.0.0.0", "10.0.0.255", "10.0.1.1", "fd00::1"],
  ],
  ["10.96.3.9/29", 6, "10.96.3.9", "10.96.3.14", [], ["10.96.3.15"]],
  [
    "fd00:1::/112",
    65_535,
    "fd00:1::1",
    "fd00:1::ffff",
    ["FD00:1:0::9"],
    ["fd00:1::", "fd00:1::1:0", "10.0.0.1"],
  ],
];
for (const [text, size, first, last, inside, outside] of ranges) {
  test(`${text} has its usable addresses`, () => {
    const range = addressRange(text);
    assert.deepEqual([range.size, range.at(1), range.at(range.size)], [size, first, last]);
    for (const address of [first, last, ...inside]) assert.ok(range.contains(address), address);
    for (const address of outside) assert.ok(!range.contains(address), address);
  });
}

test("addresses have a canonical text", () =>
  assert.deepEqual(["fd00:0:0::0A", "010.0.0.001"].map(canonicalAddress), ["fd00::a", "10.0.0.1"]));

interface Spec extends Omit<Partial<Service["spec"]>, "ports"> {
  readonly ports?: readonly {
    readonly port: number;
    readonly protocol?: string;
    readonly nodePort?: number;
  }[];
}
const make = (name: string, spec: Spec): Service =>
  ({
    metadata: { name, namespace: "default" },
    spec: { type: "ClusterIP", ipFamilies: ["IPv4"], ...spec },
  }) as unknown as Service;
const small = (): ClusterServiceAllocator =>
  serviceAllocator({
    ranges: ["10.0.0.0/29", "fd00::/120"],
    ports: { from: 30_000, to: 30_002 },
    random: () => 0,
  });

/** Allocates and reserves as a request does. */
async function take(pool: ClusterServiceAllocator, service: Service): Promise<PendingReservations> {
  const state = new WriteState();
  assert.deepEqual(pool.allocate(service, undefined, state, false), []);
  const share = await pool.secure!(service, undefined, state);
  assert.ok(typeof share === "object");
  return share;
}

const given: [name: string, spec: Spec, expected: Spec][] = [
  ["a plain service gets an address", {}, { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] }],
  ["a dual-stack service gets two addresses", { ipFamilies: ["IPv6", "IPv4"] }, { clusterIPs: ["fd00::11", "10.0.0.1"] }],
  ["an ExternalName service gets nothing", { type: "ExternalName" }, {}],
  ["a headless service gets nothing", { clusterIP: "None", clusterIPs: ["None"] }, { clusterIPs: ["None"] }],
  ["a requested address is allocated", { clusterIP: "10.0.0.6", clusterIPs: ["10.0.0.6"] }, { clusterIPs: ["10.0.0.6"] }],
  ["node ports are allocated", { type: "NodePort", ports: [{ port: 1 }, { port: 2 }] }, { ports: [{ port: 1, nodePort: 30_000 }, { port: 2, nodePort: 30_001 }] }],
  [
    "one port number with two protocols shares a node port, even if requested for the second",
    { type: "NodePort", ports: [{ port: 53, protocol: "UDP" }, { port: 53, protocol: "TCP", nodePort: 30_002 }] },
    { ports: [{ port: 53, protocol: "UDP", nodePort: 30_002 }, { port: 53, protocol: "TCP", nodePort: 30_002 }] },
  ],
  ["a load balancer may have no node ports", { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: [{ port: 1 }] }, { ports: [{ port: 1 }] }],
  ["a load balancer with local traffic policy gets a health check port", { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 1 }] }, { healthCheckNodePort: 30_001 }],
]; // prettier-ignore
for (const [name, spec, expected] of given) {
  test(name, () => {
    const service = make("s", spec);
    assert.deepEqual(small().allocate(service, undefined, new WriteState(), false), []);
    assert.deepEqual(
      Object.fromEntries(
        Object.keys(expected).map((key) => [key, (service.spec as unknown as Record<string, unknown>)[key]]),
      ),
      expected,
    );
    if (spec.type === "ExternalName") assert.equal(service.spec.clusterIP, undefined);
  });
}

const refused: [name: string, spec: Spec, text: RegExp][] = [
  [
    "an address outside of the range is refused",
    { clusterIPs: ["10.1.0.1"] },
    /^spec\.clusterIPs: Invalid value.*: the provided IP \(.*\) is not in the valid range\. The range of valid IPs is 10/,
  ],
  [
    "an address that is reserved for another service is refused",
    { clusterIPs: ["10.0.0.2"] },
    /^spec\.clusterIPs: Invalid value.*already allocated/,
  ],
  [
    "a port outside of the range is refused",
    { type: "NodePort", ports: [{ port: 1, nodePort: 80 }] },
    /^spec\.ports\[0\]\.nodePort: .*30000-30002/,
  ],
  [
    "a port that is reserved for another service is refused",
    { type: "NodePort", ports: [{ port: 1, nodePort: 30_001 }] },
    /^spec\.ports\[0\]\.nodePort: .*already allocated/,
  ],
  [
    "a reserved health check port is refused",
    { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 30_001 },
    /^spec\.healthCheckNodePort: .*already allocated/,
  ],
  [
    "a new service may request a node port for one of its service ports only",
    {
      type: "NodePort",
      ports: [
        { port: 1, nodePort: 30_000, protocol: "UDP" },
        { port: 1, nodePort: 30_000, protocol: "TCP" },
        { port: 2, nodePort: 30_000, protocol: "TCP" },
      ],
    },
    /^spec\.ports\[2\]\.nodePort: .*already allocated/,
  ],
  [
    "of several failed allocations the first is reported",
    {
      type: "LoadBalancer",
      externalTrafficPolicy: "Local",
      ports: [{ port: 1, nodePort: 80 }],
      healthCheckNodePort: 30_001,
    },
    /^spec\.ports\[0\]\.nodePort: .*30000-30002/,
  ],
];
for (const [name, spec, text] of refused) {
  test(name, async () => {
    const pool = small();
    await take(
      pool,
      make("first", { type: "NodePort", clusterIPs: ["10.0.0.2"], ports: [{ port: 1, nodePort: 30_001 }] }),
    );
    const errors = pool
      .allocate(make("second", spec), undefined, new WriteState(), false)
      .map(fieldErrorText);
    assert.equal(errors.length, 1);
    assert.match(errors[0]!, text);
  });
}

const dryRuns: [name: string, spec: object, errors: RegExp[]][] = [
  ["with an address in use", { clusterIPs: ["10.0.0.2"] }, []],
  [
    "with an address outside the range",
    { clusterIPs: ["10.1.0.2"] },
    [/^spec\.clusterIPs: .*not in the valid range/],
  ],
  ["with a port outside the range", { type: "NodePort", ports: [{ port: 1, nodePort: 80 }] }, []],
  [
    "with a port in use",
    { type: "NodePort", ports: [{ port: 1, nodePort: 30_001 }] },
    [/^spec\.ports\[0\]\.nodePort: .*already allocated/],
  ],
];
for (const [name, spec, expected] of dryRuns)
  test(`a dry run ${name} is ${expected.length > 0 ? "refused" : "accepted"}`, async () => {
    const pool = small();
    const ports = [{ port: 1, nodePort: 30_001 }];
    await take(pool, make("first", { type: "NodePort", clusterIPs: ["10.0.0.2"], ports }));
    const errors = pool.allocate(make("second", spec), undefined, new WriteState(), true);
    assert.equal(errors.length, expected.length);
    for (const [position, text] of expected.entries()) assert.match(fieldErrorText(errors[position]!), text);
  });

test("a dry run shows the network address of the range, and consecutive ports", () => {
  const pool = serviceAllocator({ ranges: ["10.0.0.0/24", "fd00::/112"], ports: { from: 1, to: 9 } });
  const shown = (spec: object): unknown[] => {
    const service = make("dry", structuredClone(spec));
    assert.deepEqual(pool.allocate(service, undefined, new WriteState(), true), []);
    const { clusterIPs, ports, healthCheckNodePort } = service.spec;
    return [clusterIPs, ports?.map(({ nodePort }) => nodePort), healthCheckNodePort];
  };
  const ipFamilies = ["IPv4", "IPv6"];
  assert.deepEqual(shown({ ipFamilies }), [["10.0.0.0", "fd00::"], undefined, undefined]);
  const local = { type: "LoadBalancer", externalTrafficPolicy: "Local" };
  const [first, second, third] = [{ port: 1 }, { port: 2 }, { port: 3, nodePort: 5 }];
  for (const [ports, expected, health] of [
    [[first, second], [32_769, 32_770], 32_771],
    [[third, first], [5, 6], 7],
  ] as const)
    assert.deepEqual(shown({ ...local, ipFamilies: ["IPv4"], ports }), [["10.0.0.0"], [...expected], health]);
});

test("an unused reservation is released at once, and is shared by requests for the same service", async () => {
  const pool = serviceAllocator({ ranges: [], ports: { from: 1, to: 2 } });
  const chosen = (name: string): Service => make(name, { clusterIPs: ["10.0.0.9"] });
  const [one, other] = [await take(pool, chosen("a")), await take(pool, chosen("a"))];
  const refused = (): number => pool.allocate(chosen("b"), undefined, new WriteState(), false).length;
  one.settle();
  assert.equal(refused(), 1);
  other.settle();
  assert.equal(refused(), 0);
});

test("an allocation that is not secured reserves nothing", () => {
  const pool = small();
  for (const name of ["a", "b"])
    assert.deepEqual(
      pool.allocate(make(name, { clusterIPs: ["10.0.0.2"] }), undefined, new WriteState(), false),
      [],
    );
});

test("released values are reused last", () => {
  const pool = serviceAllocator({ ranges: ["10.0.0.0/28"], ports: { from: 30_000, to: 30_013 } });
  const given = Array.from({ length: 14 }, () => {
    const service = make("s", { type: "NodePort", ports: [{ port: 1 }] });
    assert.deepEqual(pool.allocate(service, undefined, new WriteState(), false), []);
    return [service.spec.clusterIP, service.spec.ports![0]!.nodePort];
  });
  assert.deepEqual(
    [new Set(given.map(([address]) => address)).size, new Set(given.map(([, port]) => port)).size],
    [14, 14],
  );
});

test("an exhausted range is a server error", async () => {
  const pool = serviceAllocator({ ranges: ["10.0.0.0/30"], ports: { from: 1, to: 1 } });
  for (const name of ["a", "b"]) await take(pool, make(name, {}));
  assert.throws(() => pool.allocate(make("c", {}), undefined, new WriteState(), false), (error) => error instanceof ApiError && error.code === 500 && error.message.endsWith("a serviceIP: range is full"));
}); // prettier-ignore

test("a service keeps its values when the range changes", () => {
  const spec = {
    clusterIP: "10.9.9.9",
    clusterIPs: ["10.9.9.9"],
    type: "NodePort",
    ports: [{ port: 1, nodePort: 99 }],
  };
  const service = make("s", structuredClone(spec));
  assert.deepEqual(small().allocate(service, make("s", spec), new WriteState(), false), []);
  assert.deepEqual([service.spec.clusterIPs, service.spec.ports![0]!.nodePort], [["10.9.9.9"], 99]);
});

test("a node port shared by ports of two protocols is claimed once", () => {
  const { spec } = make("dns", {
    type: "NodePort",
    ports: [
      { port: 53, nodePort: 30_053, protocol: "UDP" },
      { port: 53, nodePort: 30_053, protocol: "TCP" },
    ],
  });
  assert.deepEqual(claimsOf(spec), ["port 30053"]);
});

test("an address is released when its service is deleted, and still known to be in use after a restart", async () => {
  await using server = await startServer({
    store: "memory",
    flags: ["--service-cluster-ip-range=10.7.0.0/24"],
  });
  const services = server.client.of(kinds.services);
  const draft = (name: string, clusterIP?: string) => ({
    metadata: { name, namespace: "default" },
    spec: { ports: [{ port: 1, targetPort: 1 }], ...(clusterIP && { clusterIP }) },
  });
  const { spec } = await services.create(draft("a"));
  assert.match(spec.clusterIP!, /^10\.7\.0\./);
  const takes = async (on: typeof server, name: string): Promise<string> =>
    // prettier-ignore
    await on.client.of(kinds.services).create(draft(name, spec.clusterIP)).then(() => "taken", (error: ApiError) => error.reason);
  assert.equal(await takes(server, "b"), "Invalid");
  await using later = await server.kit.fork();
  assert.equal(await takes(later, "b"), "Invalid");
  await services.delete("a", { namespace: "default" });
  assert.equal(await takes(server, "b"), "taken");
  await services.delete("b", { namespace: "default" });
  assert.equal(await takes(server, "c"), "taken");
});

test("the server's own service has the first address with any endpoint reconciler, and is recreated after a deletion", async () => {
  for (const flags of [[], ["--endpoint-reconciler-type=none"]]) {
    const clock = virtualClock(Date.now());
    await using server = await startServer({
      store: "memory",
      clock,
      flags: ["--service-cluster-ip-range=10.7.0.0/24", ...flags],
    });
    const services = server.client.of(kinds.services);
    const place = { namespace: "default" };
    const { spec } = await services.get("orch", place);
    assert.deepEqual(
      [spec.clusterIP, spec.ports?.[0]?.port, spec.ports?.[0]?.name, spec.ipFamilyPolicy],
      ["10.7.0.1", 443, "https", "SingleStack"],
    );
    await services.patch(
      "orch",
      "merge",
      {
        metadata: { labels: { mine: "1" } },
        spec: { ports: [{ name: "https", port: 443, targetPort: 444 }] },
      },
      place,
    );
    await clock.advance(30_000);
    assert.equal((await services.get("orch", place)).spec.ports?.[0]?.targetPort, 444);
    await services.delete("orch", place);
    for (let round = 0; round < 50 && (await services.list(place)).items.length === 0; round++)
      await clock.advance(10_000);
    assert.equal((await services.get("orch", place)).spec.clusterIP, "10.7.0.1");
  }
});

const staticPorts: [count: number, kept: number][] = [
  [16, 0],
  [17, 16],
  [2768, 86],
  [10_000, 128],
];
for (const [count, kept] of staticPorts)
  test(`of ${count} node ports the first ${kept} are reserved for static assignment`, () => {
    const ports = { from: 30_000, to: 30_000 + count - 1 };
    const first = (keepsStaticPorts: boolean): number | undefined => {
      const service = make("a", { type: "NodePort", ports: [{ port: 1 }] });
      const pool = serviceAllocator({ ranges: [], ports, keepsStaticPorts, random: () => 0 });
      assert.deepEqual(pool.allocate(service, undefined, new WriteState(), false), []);
      return service.spec.ports![0]!.nodePort;
    };
    assert.deepEqual([first(false), first(true)], [30_000, 30_000 + kept]);
  });

const updates: [name: string, before: object, after: object, message: RegExp][] = [
  [
    "failed allocations are reported before validation errors",
    { type: "ExternalName", externalName: "a.b" },
    { type: "ClusterIP", clusterIP: "10.1.0.1", ports: [{ port: 1, nodePort: 30_001 }] },
    /is invalid: spec\.clusterIPs: Invalid value: \[\]string\{"10\.1\.0\.1"\}: failed to allocate IP 10\.1\.0\.1: .* not in the valid range/,
  ],
  [
    "an immutable address is not allocated",
    { ports: [{ port: 1 }] },
    { clusterIP: "10.1.0.1", ports: [{ port: 1 }] },
    /is invalid: spec\.clusterIPs\[0\]: Invalid value: .*: may not change once set$/,
  ],
  [
    "an immutable health check port is not allocated",
    { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 1 }] },
    { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 1, ports: [{ port: 1 }] },
    /is invalid: spec\.healthCheckNodePort: Forbidden: field is immutable$/,
  ],
  [
    "a second IP family requires a dual-stack policy",
    { ports: [{ port: 1 }] },
    { ipFamilies: ["IPv4", "IPv6"], ports: [{ port: 1 }] },
    /spec\.ipFamilyPolicy: .*: must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified$/,
  ],
];
test("errors of a service update are reported in the order of kube-apiserver", async () => {
  await using server = await startServer({ store: "memory" });
  const services = server.client.of(kinds.services);
  const meta = { name: "s", namespace: "default" };
  for (const [name, before, after, message] of updates) {
    await services.create({ metadata: meta, spec: before });
    const changed = { metadata: meta, spec: after } as Service;
    await assert.rejects(services.update(changed), { message }, name);
    await services.delete("s", { namespace: "default" });
  }
});

test("a change to the address of another service is refused", { timeout: 60_000 }, async () => {
  await using server = await startServer({ store: "memory" });
  const services = server.client.of(kinds.services);
  const ports = [{ port: 80 }];
  const create = (name: string) =>
    services.create({ metadata: { name, namespace: "default" }, spec: { ports } } as never);
  const [other, mine] = [await create("a"), await create("b")];
  const { clusterIP, clusterIPs } = other.spec;
  const changed = { ...mine, spec: { ...mine.spec, clusterIP, clusterIPs } } as Service;
  await assert.rejects(services.update(changed), { message: /may not change once set/ });
});
