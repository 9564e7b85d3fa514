// Flags that are parsed as in kube-apiserver, with its error texts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { settle } from "#options";
import { apiserverOptions } from "./options.ts";

test("--admission-control names all plug-ins to run", () => {
  const { values, warnings } = settle(apiserverOptions(dialects.kubernetes), [
    "--admission-control=AlwaysAdmit,LimitRanger",
  ]);
  assert.deepEqual(values.enableAdmissionPlugins, ["AlwaysAdmit", "LimitRanger"]);
  assert.ok(values.disableAdmissionPlugins.includes("NamespaceLifecycle"));
  assert.ok(!values.disableAdmissionPlugins.includes("LimitRanger"));
  assert.equal(
    warnings[0],
    "Flag --admission-control has been deprecated, Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.",
  );
});

test("the flags of node agent ports are deprecated, and one of them has no effect", () => {
  const { values, warnings } = settle(apiserverOptions(dialects.kubernetes), [
    "--kubelet-port=1234",
    "--kubelet-read-only-port=1",
  ]);
  assert.deepEqual([values.nodeagentPort, values.nodeagentReadOnlyPort], [1234, 1]);
  assert.deepEqual(warnings.slice(0, 2), [
    "Flag --kubelet-port has been deprecated, kubelet-port is deprecated and will be removed.",
    "Flag --kubelet-read-only-port has been deprecated, kubelet-read-only-port is deprecated and will be removed.",
  ]);
  assert.match(warnings[2]!, /^--kubelet-read-only-port=1: has no effect: /);
});

test("address ranges of a vendor's load balancers are accepted and have no effect", () => {
  const { values, errors, warnings } = settle(apiserverOptions(dialects.kubernetes), [
    "--cloud-provider-gce-l7lb-src-cidrs=10.0.0.0/8",
    "--cloud-provider-gce-lb-src-cidrs=10.1.0.0/16,10.2.0.0/16",
  ]);
  assert.ok(!errors.some((text) => text.includes("cidrs")));
  assert.deepEqual(values.cloudProviderVendorL7lbSrcCidrs, ["10.0.0.0/8"]);
  assert.deepEqual(values.cloudProviderVendorLbSrcCidrs, ["10.1.0.0/16", "10.2.0.0/16"]);
  assert.equal(
    warnings[0],
    "Flag --cloud-provider-gce-lb-src-cidrs has been deprecated, This flag will be removed once the GCE Cloud Provider is removed from kube-apiserver",
  );
  assert.equal(warnings.filter((text) => text.includes("has no effect")).length, 2);
});

test("a required claim may contain commas", () => {
  const { values } = settle(apiserverOptions(dialects.kubernetes), [
    "--oidc-required-claim=a=b,c",
    "--oidc-required-claim=d=e",
  ]);
  assert.deepEqual(values.oidcRequiredClaim, { a: "b,c", d: "e" });
});

const unparsable: [flag: string, message: string][] = [
  ["--event-ttl=x", 'invalid argument "x" for "--event-ttl" flag: time: invalid duration "x"'],
  [
    "--store_compaction-interval=x",
    'invalid argument "x" for "--store-compaction-interval" flag: time: invalid duration "x"',
  ],
  ["--event-ttl=5", 'invalid argument "5" for "--event-ttl" flag: time: missing unit in duration "5"'],
  ["--bind-address=", 'invalid argument "" for "--bind-address" flag: failed to parse IP: ""'],
  ["--bind-address=foo", 'invalid argument "foo" for "--bind-address" flag: failed to parse IP: "foo"'],
  [
    "--default-not-ready-toleration-seconds=x",
    'invalid argument "x" for "--default-not-ready-toleration-seconds" flag: parse error',
  ],
  [
    "--oidc-required-claim=a",
    'invalid argument "a" for "--oidc-required-claim" flag: malformed pair, expect string=string',
  ],
  [
    "--allow-metric-labels=foo",
    'invalid argument "foo" for "--allow-metric-labels" flag: foo must be formatted as key=value',
  ],
  [
    "--service-node-port-range=5-3",
    'invalid argument "5-3" for "--service-node-port-range" flag: end port cannot be less than start port: 5-3',
  ],
  [
    "--tls-sni-cert-key=x",
    'invalid argument "x" for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths',
  ],
  [
    "--vmodule=a=x",
    'invalid argument "a=x" for "--vmodule" flag: parsing verbosity in "a=x": strconv.ParseUint: parsing "x": invalid syntax',
  ],
  ["-v=x", 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
  ["-xyz=4", "unknown shorthand flag: 'x' in -xyz=4"],
  ["-v", "flag needs an argument: 'v' in -v"],
  ["--event-ttl", "flag needs an argument: --event-ttl"],
  ["---x", "bad flag syntax: ---x"],
];
for (const [flag, message] of unparsable)
  test(`${flag} is rejected with the error text of kube-apiserver`, () => {
    const { errors } = settle(apiserverOptions(dialects.kubernetes), [flag]);
    assert.ok(errors.includes(message), errors.join("\n"));
  });
