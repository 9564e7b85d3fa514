import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { settle } from "#options";
import { dnsOptions, proxyOptions } from "./network-options.ts";

const refused: [program: "proxy" | "dns", flag: string][] = [
  ["proxy", "--proxy-mode=ipvs"],
  ["proxy", "--masquerade-bit=32"],
  ["proxy", "--cluster-cidr=10.0.0.1"],
  ["proxy", "--sync-period=0s"],
  ["dns", "--listen-address=localhost"],
  ["dns", "--upstream=example.org"],
  ["dns", "--allow-from=all"],
  ["dns", "--dns-port=70000"],
];
for (const [program, flag] of refused)
  test(`orch-${program} rejects ${flag}`, () => {
    const { errors } =
      program === "proxy"
        ? settle(proxyOptions(dialects.orch), [flag])
        : settle(dnsOptions(dialects.orch), [flag]);
    assert.equal(errors.length, 1);
  });

test("flags of the DNS server are parsed", () => {
  const { values, errors } = settle(dnsOptions(dialects.kubernetes), [
    "--listen-address=10.0.0.1",
    "--upstream=192.0.2.1",
    "--ttl=30s",
  ]);
  assert.deepEqual(errors, []);
  assert.deepEqual(
    [values.listenAddress, values.upstream, values.ttl],
    [["10.0.0.1"], ["192.0.2.1"], 30_000],
  );
});
