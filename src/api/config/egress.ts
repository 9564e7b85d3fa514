// The file of --egress-selector-config-file: how connections to each network are made.
import { type TypeOf, embedded, list, optional, required, string } from "#schema";
import { egressConfig } from "../packages.ts";

const { message, kind } = egressConfig;

const TLSConfig = message("TLSConfig", "How a proxy is trusted, and how it knows the server.", {
  caBundle: optional(1, string, "File of the authorities that vouch for it; the system's by default."),
  clientKey: optional(2, string, "File of the client key."),
  clientCert: optional(3, string, "File of the client certificate."),
});
const TCPTransport = message("TCPTransport", "A proxy at an address.", {
  url: optional(1, string, "Its address: http:// or https://."),
  tlsConfig: optional(2, TLSConfig, "For https://."),
});
const UDSTransport = message("UDSTransport", "A proxy at a unix socket.", {
  udsName: optional(1, string, "Path of the socket."),
});
const Transport = message("Transport", "Where a proxy is: one of the two.", {
  tcp: optional(1, TCPTransport, "At an address."),
  uds: optional(2, UDSTransport, "At a socket."),
});
const Connection = message("Connection", "How connections are made.", {
  proxyProtocol: optional(1, string, "Direct, HTTPConnect or GRPC."),
  transport: optional(2, Transport, "Where the proxy is; absent for Direct."),
});
const EgressSelection = message("EgressSelection", "A network.", {
  name: required(1, string, "controlplane, cluster or etcd."),
  connection: embedded(2, Connection, "How it is reached."),
});
const EgressSelectorConfiguration = kind("EgressSelectorConfiguration", "How networks are reached.", {
  egressSelections: required(1, list(EgressSelection), "The networks; others are reached directly."),
});

/** Returns the kind, which is the same in every version that files may use. */
export const egressConfigKind = (): typeof EgressSelectorConfiguration => EgressSelectorConfiguration;
export type EgressConfig = TypeOf<typeof EgressSelectorConfiguration>;
export type EgressSelectionConfig = NonNullable<EgressConfig["egressSelections"]>[number];
export type EgressConnection = NonNullable<EgressSelectionConfig["connection"]>;
export type EgressTcp = NonNullable<NonNullable<EgressConnection["transport"]>["tcp"]>;
