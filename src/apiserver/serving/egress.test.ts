import assert from "node:assert/strict";
import { test } from "node:test";
import { dialectNamed } from "#dialect";
import { parseEgress, readEgress } from "./egress.ts";

const dialect = dialectNamed("orch")!;
const file = (connection: unknown, name = "cluster"): string =>
  JSON.stringify({
    apiVersion: "apiserver.orch.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [{ name, connection }],
  });
const connect = (transport: unknown) => ({ proxyProtocol: "HTTPConnect", transport });

const accepted: [name: string, text: string, networks: string[]][] = [
  ["direct connections", file({ proxyProtocol: "Direct" }), []],
  ["a Unix socket", file(connect({ uds: { udsName: "/run/p" } })), ["cluster"]],
  ["a plain proxy", file(connect({ tcp: { url: "http://127.0.0.1:1" } }), "etcd"), ["etcd"]],
  ["names in any case", file(connect({ uds: { udsName: "/run/p" } }), "ControlPlane"), ["controlplane"]],
  ["the former name", file(connect({ uds: { udsName: "/run/p" } }), "master"), ["controlplane"]],
  ["no selections", '{"kind":"EgressSelectorConfiguration"}', []],
  ["an unknown field", file({ proxyProtocol: "Direct", proxy: 1 }), []],
];
for (const [name, text, networks] of accepted)
  test(`an egress file is accepted with ${name}`, () =>
    assert.deepEqual(Object.keys(parseEgress(text, dialect)), networks));

const invalid = (why: string): string => `failed to validate egress selector configuration: ${why}`;
const unread = (why: string): string => `failed to read egress selector config: ${why}`;
const straight = { proxyProtocol: "Direct" };
const several = (...egressSelections: object[]): string =>
  JSON.stringify({ kind: "EgressSelectorConfiguration", egressSelections });
const networks = 'supported values: "cluster", "controlplane", "etcd"';
const protocols = 'supported values: "Direct", "HTTPConnect", "GRPC"';
const refused: [name: string, text: string, why: string][] = [
  ["is empty", "", unread('invalid service configuration object ""')],
  ["is of another kind", '{"kind":"Egress"}', unread('invalid service configuration object "Egress"')],
  [
    "has a field of another type",
    several(5 as never).replace("[5]", "5"),
    unread(
      "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go struct field EgressSelectorConfiguration.egressSelections of type []v1beta1.EgressSelection",
    ),
  ],
  [
    "names another network",
    file(straight, "Node"),
    invalid(`service.connection: Unsupported value: "node": ${networks}`),
  ],
  [
    "names a network twice",
    several({ name: "etcd", connection: straight }, { name: "Etcd", connection: straight }),
    invalid('service.connection[1]: Duplicate value: "etcd"'),
  ],
  ["has no protocol", file({}), invalid(`service.connection.protocol: Unsupported value: "": ${protocols}`)],
  [
    "selects gRPC without a socket",
    file({ proxyProtocol: "GRPC", transport: { tcp: { url: "http://x" } } }),
    invalid("service.connection.uds: Required value: UDS must be set with GRPC"),
  ],
  [
    "selects gRPC",
    file({ proxyProtocol: "GRPC", transport: { uds: { udsName: "/x" } } }),
    "GRPC tunnels are not supported: their protocol belongs to one proxy, which also speaks HTTPConnect",
  ],
  [
    "has a transport for direct connections",
    file({ proxyProtocol: "Direct", transport: {} }),
    invalid(
      'service.connection.transport: Invalid value: "direct": Transport config should be absent for direct connect',
    ),
  ],
  [
    "has no transport",
    file({ proxyProtocol: "HTTPConnect" }),
    invalid("service.connection.transport: Required value: transport must be set for HTTPConnect"),
  ],
  [
    "has an empty transport",
    file(connect({})),
    invalid("service.connection.tcp: Required value: One of TCP or UDS must be set"),
  ],
  [
    "has both transports",
    file(connect({ tcp: { url: "http://x" }, uds: { udsName: "/x" } })),
    invalid(
      'service.connection.tcp: Invalid value: apiserver.TCPTransport{URL:"http://x", TLSConfig:(*apiserver.TLSConfig)(nil)}: TCP and UDS cannot both be set',
    ),
  ],
  [
    "names no socket",
    file(connect({ uds: {} })),
    invalid(
      'service.connection.udsName: Invalid value: "nil": UDSName should be present for UDS connections',
    ),
  ],
  [
    "has another scheme",
    file(connect({ tcp: { url: "ftp://x" } })),
    invalid(
      'service.connection.url: Invalid value: "ftp://x": supported connection protocols are http:// and https://',
    ),
  ],
  [
    "secures plain HTTP",
    file(connect({ tcp: { url: "http://x", tlsConfig: {} } })),
    invalid(
      'service.connection.tlsConfig: Invalid value: "nil": TLSConfig config should not be present when using HTTP',
    ),
  ],
  [
    "does not secure HTTPS",
    file(connect({ tcp: { url: "https://x" } })),
    invalid("service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS"),
  ],
  [
    "names missing files, and no certificate",
    file(connect({ tcp: { url: "https://x", tlsConfig: { caBundle: "/nope", clientKey: "/nope" } } })),
    invalid(
      '[service.connection.tlsConfig.caBundle: Invalid value: "/nope": TLS config ca bundle does not exist, service.connection.tlsConfig.clientCert: Invalid value: "nil": Using TLS requires clientCert, service.connection.tlsConfig.clientKey: Invalid value: "/nope": TLS client key does not exist]',
    ),
  ],
  [
    "is invalid in several places",
    several(
      { name: "foo", connection: { proxyProtocol: "Bar" } },
      { name: "foo", connection: connect({ uds: {} }) },
      { name: "etcd", connection: { proxyProtocol: "GRPC" } },
    ),
    invalid(
      `[service.connection.protocol: Unsupported value: "Bar": ${protocols}, service.connection.udsName: Invalid value: "nil": UDSName should be present for UDS connections, service.connection.transport: Required value: transport must be set for GRPC, service.connection: Unsupported value: "foo": ${networks}, service.connection[1]: Duplicate value: "foo"]`,
    ),
  ],
];
for (const [name, text, why] of refused)
  test(`an egress file that ${name} is rejected with kube-apiserver's error text`, () =>
    assert.throws(() => parseEgress(text, dialect), new Error(why)));

test("a missing egress file is reported with kube-apiserver's error text", () =>
  assert.throws(
    () => readEgress("/nowhere/at/all", dialect),
    new Error(
      unread(
        'unable to read egress selector configuration from "/nowhere/at/all" [open /nowhere/at/all: no such file or directory]',
      ),
    ),
  ));
