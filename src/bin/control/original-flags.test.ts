// Command lines of the original programs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { type AnyOption, type OptionSet, settle } from "#options";
import { workersFrom } from "./concurrency.ts";
import { managerOptions, schedulerOptions } from "./control-options.ts";
import { proxyOptions } from "./network-options.ts";

const dialect = dialects.kubernetes;
const usual: [set: OptionSet<AnyOption>, argv: string[]][] = [
  [
    managerOptions(dialect),
    [
      "--allocate-node-cidrs=true",
      "--authentication-kubeconfig=/etc/k/c.conf",
      "--authorization-kubeconfig=/etc/k/c.conf",
      "--bind-address=127.0.0.1",
      "--client-ca-file=/etc/k/pki/ca.crt",
      "--cluster-cidr=10.244.0.0/16",
      "--cluster-name=k",
      "--concurrent-deployment-syncs=7",
      "--controllers=*,bootstrapsigner,tokencleaner",
      "--kubeconfig=/etc/k/c.conf",
      "--kube-api-qps=50",
      "--leader-elect=true",
      "--requestheader-client-ca-file=/etc/k/pki/front-proxy-ca.crt",
      "--use-service-account-credentials=true",
      "--vmodule=job=4",
    ],
  ],
  [
    schedulerOptions(dialect),
    [
      "--authentication-kubeconfig=/etc/k/s.conf",
      "--authorization-kubeconfig=/etc/k/s.conf",
      "--bind-address=127.0.0.1",
      "--kubeconfig=/etc/k/s.conf",
      "--leader-elect=true",
      "--secure-port=10259",
    ],
  ],
  [
    proxyOptions(dialect),
    [
      "--cluster-cidr=10.244.0.0/16",
      "--conntrack-max-per-core=0",
      "--hostname-override=n1",
      "--iptables-masquerade-bit=9",
      "--ipvs-scheduler=rr",
      "--kubeconfig=/etc/k/p.conf",
    ],
  ],
];
for (const [set, argv] of usual)
  test(`${set.program} accepts a typical command line and reports flags without effect`, () => {
    const { errors, warnings, values } = settle(set, argv, { purpose: "check" });
    assert.deepEqual(errors, []);
    const idle = warnings.filter((line) => line.includes("has no effect: "));
    assert.ok(idle.length > 0);
    assert.equal(idle.length, warnings.length);
    if (set.program === "orch-proxy") assert.equal((values as { masqueradeBit?: number }).masqueradeBit, 9);
  });

const refused: [set: OptionSet<AnyOption>, flag: string, why: RegExp][] = [
  [managerOptions(dialect), "--cluster-signing-kubelet-client-cert-file=/x", /one CA signs/],
  [managerOptions(dialect), "--concurrent-gc-syncs=0", /--concurrent-gc-syncs=0/],
  [managerOptions(dialect), "--max-endpoints-per-slice=1001", /--max-endpoints-per-slice=1001/],
  [managerOptions(dialect), "--leader-elect-resource-lock=endpoints", /must be/],
  [managerOptions(dialect), "--log-json-split-stream", /needs the feature gate LoggingAlphaOptions/],
  [schedulerOptions(dialect), "--master=https://127.0.0.1", /part of the client configuration/],
  [proxyOptions(dialect), "--config=/x", /flags only/],
];
for (const [set, flag, why] of refused)
  test(`${set.program} rejects ${flag}`, () => assert.match(settle(set, [flag]).errors.join("\n"), why));

test("concurrency is configured per queue, with the original's defaults", () => {
  const { values } = settle(managerOptions(dialect), ["--concurrent-rc-syncs=3"]);
  const workers = workersFrom(values);
  assert.deepEqual(
    ["replicationmanager", "garbage collector", "namespaces", "endpoint_slice_mirroring"].map((queue) =>
      workers.get(queue),
    ),
    [3, 20, 10, 5],
  );
});

const defaults: [set: OptionSet<AnyOption>, expected: Record<string, unknown>][] = [
  [
    managerOptions(dialect),
    { orchApiQps: 20, orchApiBurst: 30, securePort: 10_257, contentionProfiling: false },
  ],
  [
    schedulerOptions(dialect),
    { orchApiQps: 50, orchApiBurst: 100, securePort: 10_259, authenticationTolerateLookupFailure: true },
  ],
  [proxyOptions(dialect), { orchApiQps: 5, orchApiBurst: 10, profiling: false, metricsPort: 10_249 }],
];
for (const [set, expected] of defaults)
  test(`flags of the original have its defaults in ${set.program}`, () => {
    const values = settle(set, []).values as Record<string, unknown>;
    assert.deepEqual({ ...values, ...expected }, values);
  });

test("32-bit numbers are range-checked", () => {
  for (const [set, flag] of [
    [managerOptions(dialect), "terminated-pod-gc-threshold"],
    [proxyOptions(dialect), "masquerade-bit"],
  ] as [OptionSet<AnyOption>, string][])
    assert.match(settle(set, [`--${flag}=3000000000`]).errors.join(), /value out of range/);
});
