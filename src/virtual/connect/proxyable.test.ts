import assert from "node:assert/strict";
import { test } from "node:test";
import { proxyableAddress, proxyableHost } from "./proxyable.ts";

const refused =
  `127.0.0.1 0127.0.0.1 ::1 0:0:0:0:0:0:0:1 ::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:127.0.0.1
  ::ffff:0:0 0.0.0.0 :: 169.254.169.254 ::ffff:a9fe:a9fe fe80::1 fe80::1%eth0 ::1%lo 224.0.0.1 ff02::1
  255.255.255.255 ::127.0.0.1 64:ff9b::7f00:1 127.1 2130706433 0x7f000001 localhost`.split(/\s+/);
for (const text of ["", ...refused])
  test(`the proxy refuses ${JSON.stringify(text)}`, () =>
    assert.throws(() => proxyableAddress(text), { message: "address not allowed" }));

test("the canonical form of the checked address is dialed", () => {
  assert.equal(proxyableAddress("::ffff:0a00:0001"), "10.0.0.1");
  assert.equal(proxyableAddress("010.0.0.1"), "10.0.0.1");
  assert.equal(proxyableAddress("2001:DB8:0:0::1"), "2001:db8::1");
});

test("a host name is resolved once, and the resolved address is dialed", async () => {
  const resolved: string[] = [];
  const answers = [["10.0.0.7"], ["127.0.0.1"]];
  const resolve = (name: string) => Promise.resolve((resolved.push(name), answers.shift()!));
  assert.equal(await proxyableHost("node.example", resolve), "10.0.0.7");
  assert.deepEqual(resolved, ["node.example"]);
});

test("a name with one forbidden address among its addresses is refused", () =>
  assert.rejects(
    proxyableHost("node.example", () => Promise.resolve(["10.0.0.7", "::ffff:7f00:1"])),
    { message: "address not allowed" },
  ));

test("a host name without addresses is reported", () =>
  assert.rejects(
    proxyableHost("node.example", () => Promise.reject(new Error("ENOTFOUND"))),
    /no addresses for hostname node.example/,
  ));
