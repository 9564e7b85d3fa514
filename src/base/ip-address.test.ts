import assert from "node:assert/strict";
import { isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { type IpScope, embeddedIpv4, formatIp, ipScope, parseIp } from "./ip-address.ts";

const spellings: [scope: IpScope, texts: string][] = [
  [
    "loopback",
    `127.0.0.1 127.255.255.254 127.000.000.001 0127.0.0.1 ::1 0::1 ::0:1 0:0:0:0:0:0:0:1 ::0001
     0000:0000:0000:0000:0000:0000:0000:0001 ::ffff:127.0.0.1 ::FFFF:127.0.0.1 ::ffff:7f00:1 ::ffff:7f00:0001
     0:0:0:0:0:ffff:127.0.0.1 0:0:0:0:0:ffff:7f00:1 0::ffff:127.8.9.1 ::0:ffff:7f12:3456`,
  ],
  ["unspecified", "0.0.0.0 00.0.0.0 :: 0:: ::0 0:0:0:0:0:0:0:0 ::ffff:0.0.0.0 ::ffff:0:0 0::ffff:0:0"],
  [
    "link-local",
    "169.254.169.254 169.254.0.1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe 0:0:0:0:0:FFFF:A9FE:1 fe80::1 FE80::1 febf::1",
  ],
  ["link-local multicast", "224.0.0.1 ::ffff:224.0.0.1 ff02::1 ff12::1"],
  ["multicast", "224.0.1.1 239.255.255.255 ::ffff:efff:1 ff0e::1 ff05::2"],
  ["broadcast", "255.255.255.255 ::ffff:255.255.255.255 ::ffff:ffff:ffff"],
  [
    "global",
    "10.0.0.1 172.16.0.1 8.8.8.8 ::ffff:10.0.0.1 2001:db8::1 fd00::1 fec0::1 64:ff9b::7f00:1 ::127.0.0.1",
  ],
];
for (const [scope, texts] of spellings)
  for (const text of texts.split(/\s+/))
    test(`${text} is ${scope}`, () => assert.equal(ipScope(parseIp(text)!), scope));

const noAddresses =
  "|1|127.1|1.2.3|1.2.3.4.5|256.0.0.1|0x7f.0.0.1|1.2.3.-4|localhost|:::|1::2::3|1:2:3:4:5:6:7|1:2:3:4:5:6:7:8:9|" +
  "::12345|::g|fe80::1%lo|1.2.3.4:80|[::1]|::1.2.3|1.2.3.4::|:1|1:|1.2.3.4 | ::1|2130706433|1:2:3:4:5:6:7::8:9|" +
  "::1.2.3.4:5";
for (const text of noAddresses.split("|"))
  test(`${JSON.stringify(text)} is no address`, () => assert.equal(parseIp(text), undefined));

const formats: [text: string, canonical: string][] = [
  ["010.001.0.1", "10.1.0.1"],
  ["::ffff:7f00:1", "127.0.0.1"],
  ["0:0:0:0:0:0:0:0", "::"],
  ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
  ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
  ["fe80:0:0:0::", "fe80::"],
];
for (const [text, canonical] of formats)
  test(`${text} is spelled ${canonical}`, () => assert.equal(formatIp(parseIp(text)!), canonical));

test("what is formatted is read as the same address, and node:net takes it for one", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const bytes = parseIp(text)!;
      const canonical = formatIp(bytes);
      assert.deepEqual(parseIp(canonical), bytes);
      assert.notEqual(isIP(canonical), 0);
    }),
  );
});

const embedded: [text: string, inside: string | undefined][] = [
  ["::127.0.0.1", "127.0.0.1"],
  ["64:ff9b::7f00:1", "127.0.0.1"],
  ["2001:db8::7f00:1", undefined],
  ["10.0.0.1", undefined],
];
for (const [text, inside] of embedded)
  test(`${text} stands for ${inside ?? "no other address"}`, () => {
    const found = embeddedIpv4(parseIp(text)!);
    assert.equal(found && formatIp(found), inside);
  });
