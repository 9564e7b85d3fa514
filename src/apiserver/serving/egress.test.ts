import assert from "node:assert/strict";
import { test } from "node:test";
import { dialectNamed } from "#dialect";
import { parseEgress } from "./egress.ts";

const dialect = dialectNamed("orch")!;
const file = (connection: unknown, name = "cluster"): string =>
  JSON.stringify({
    apiVersion: "apiserver.orch.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [{ name, connection }],
  });
const connect = (transport: unknown) => ({ proxyProtocol: "HTTPConnect", transport });

const accepted: [name: string, text: string, networks: string[]][] = [
  ["straight connections", file({ proxyProtocol: "Direct" }), []],
  ["a Unix socket", file(connect({ uds: { udsName: "/run/p" } })), ["cluster"]],
  ["a plain proxy", file(connect({ tcp: { url: "http://127.0.0.1:1" } }), "etcd"), ["etcd"]],
  ["names in any case", file(connect({ uds: { udsName: "/run/p" } }), "ControlPlane"), ["controlplane"]],
  ["the former name", file(connect({ uds: { udsName: "/run/p" } }), "master"), ["controlplane"]],
  ["no selections", '{"kind":"EgressSelectorConfiguration"}', []],
];
for (const [name, text, networks] of accepted)
  test(`an egress file is accepted with ${name}`, () =>
    assert.deepEqual(Object.keys(parseEgress(text, dialect)), networks));

const at = "egressSelections[0].connection";
const refused: [name: string, text: string, why: string][] = [
  ["is of another kind", '{"kind":"Egress"}', "kind: must be"],
  ["names another network", file({ proxyProtocol: "Direct" }, "node"), "egressSelections[0].name: must be"],
  [
    "names a network twice",
    '{"kind":"EgressSelectorConfiguration","egressSelections":[{"name":"etcd","connection":{"proxyProtocol":"Direct"}},{"name":"Etcd","connection":{"proxyProtocol":"Direct"}}]}',
    "egressSelections[1].name: etcd is there twice",
  ],
  ["has no protocol", file({}), `${at}.proxyProtocol: must be Direct or HTTPConnect`],
  ["wants gRPC", file({ proxyProtocol: "GRPC" }), `${at}.proxyProtocol: GRPC tunnels are not supported`],
  [
    "has a transport for straight connections",
    file({ proxyProtocol: "Direct", transport: {} }),
    `${at}.transport: must be absent`,
  ],
  ["has no transport", file({ proxyProtocol: "HTTPConnect" }), `${at}.transport: must be given`],
  ["has an empty transport", file(connect({})), `${at}.transport.tcp: exactly one`],
  [
    "has both transports",
    file(connect({ tcp: { url: "http://x" }, uds: { udsName: "/x" } })),
    `${at}.transport.tcp: exactly one`,
  ],
  ["names no socket", file(connect({ uds: {} })), `${at}.transport.uds.udsName: must be given`],
  ["has another scheme", file(connect({ tcp: { url: "ftp://x" } })), `${at}.transport.tcp.url: must begin`],
  [
    "secures plain HTTP",
    file(connect({ tcp: { url: "http://x", tlsConfig: {} } })),
    `${at}.transport.tcp.tlsConfig: must be absent`,
  ],
  [
    "does not secure HTTPS",
    file(connect({ tcp: { url: "https://x" } })),
    `${at}.transport.tcp.tlsConfig: must be given`,
  ],
  [
    "has no client certificate",
    file(connect({ tcp: { url: "https://x", tlsConfig: {} } })),
    `${at}.transport.tcp.tlsConfig.clientCert: must be given`,
  ],
  [
    "names files that are not there",
    file(connect({ tcp: { url: "https://x", tlsConfig: { caBundle: "/nowhere/ca" } } })),
    `${at}.transport.tcp.tlsConfig.caBundle: /nowhere/ca does not exist`,
  ],
  ["has an unknown field", file({ proxyProtocol: "Direct", proxy: 1 }), `${at}.proxy: is not known`],
];
for (const [name, text, why] of refused)
  test(`an egress file that ${name} is refused with the field`, () =>
    assert.throws(
      () => parseEgress(text, dialect),
      (error: Error) => error.message.startsWith(why) || assert.fail(error.message),
    ));
