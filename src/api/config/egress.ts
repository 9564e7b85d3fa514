// The file of --egress-selector-config-file: how connections to each network are made.
import { type TypeOf, embedded, list, optional, required, string } from "#schema";
import { egressConfig } from "../packages.ts";

const { message, kind } = egressConfig;

const TLSConfig = message("TLSConfig", "TLS configuration of the connection to a proxy.", {
  caBundle: optional(
    1,
    string,
    "Path of the CA bundle for verifying the proxy; defaults to the system's roots.",
  ),
  clientKey: optional(2, string, "Path of the client key."),
  clientCert: optional(3, string, "Path of the client certificate."),
});
const TCPTransport = message("TCPTransport", "TCP connection to a proxy.", {
  url: optional(1, string, "URL of the proxy, with scheme http or https."),
  tlsConfig: optional(2, TLSConfig, "TLS configuration; used only with scheme https."),
});
const UDSTransport = message("UDSTransport", "Unix domain socket connection to a proxy.", {
  udsName: optional(1, string, "Path of the socket."),
});
const Transport = message("Transport", "Transport to the proxy; exactly one member is set.", {
  tcp: optional(1, TCPTransport, "TCP connection."),
  uds: optional(2, UDSTransport, "Unix domain socket connection."),
});
const Connection = message("Connection", "How connections to a network are established.", {
  proxyProtocol: optional(1, string, "Protocol of the proxy: Direct for none, HTTPConnect or GRPC."),
  transport: optional(2, Transport, "Transport to the proxy; must be unset for Direct."),
});
const EgressSelection = message("EgressSelection", "Egress configuration of a network.", {
  name: required(1, string, "Name of the egress selection: controlplane, cluster or etcd."),
  connection: embedded(2, Connection, "How connections to the network are established."),
});
const EgressSelectorConfiguration = kind(
  "EgressSelectorConfiguration",
  "Configuration of the egress of the API server by network.",
  {
    egressSelections: required(
      1,
      list(EgressSelection),
      "Egress selections; networks that are not listed are reached directly.",
    ),
  },
);

/** Returns the kind, which is the same in every version that files may use. */
export const egressConfigKind = (): typeof EgressSelectorConfiguration => EgressSelectorConfiguration;
export type EgressConfig = TypeOf<typeof EgressSelectorConfiguration>;
export type EgressSelectionConfig = NonNullable<EgressConfig["egressSelections"]>[number];
export type EgressConnection = NonNullable<EgressSelectionConfig["connection"]>;
export type EgressTcp = NonNullable<NonNullable<EgressConnection["transport"]>["tcp"]>;
