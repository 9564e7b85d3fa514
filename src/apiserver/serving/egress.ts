// The file of --egress-selector-config-file: the proxies for connections to the control plane, the cluster
// and etcd.
//
//   egressSelections:
//     - name: cluster
//       connection: { proxyProtocol: HTTPConnect, transport: { uds: { udsName: /run/proxy.sock } } }
import { existsSync, readFileSync } from "node:fs";
import {
  type EgressConnection,
  type EgressSelectionConfig,
  type EgressTcp,
  egressConfigKind,
  inDialect,
} from "#api";
import {
  type FieldError,
  LiteralValue,
  duplicate,
  fieldErrorsText,
  fileErrorText,
  invalidValue,
  notSupported,
  required,
} from "#base";
import type { Dialect } from "#dialect";
import { type Dial, type DialObserver, dialThrough } from "#http";
import { fromJsonValue, parseYaml } from "#schema";

/** Dialers of the networks; absent for networks that are connected to directly. */
export interface Egress {
  readonly controlplane?: Dial;
  readonly cluster?: Dial;
  readonly etcd?: Dial;
}

const networks = ["controlplane", "cluster", "etcd"] as const;
type Network = (typeof networks)[number];
/** Former name of the control plane's network in the versions that are supported here. */
const legacyName = "master";

/** Returns the observer of connections to proxies with the given transport. */
export type EgressObserver = (transport: "tcp" | "uds") => DialObserver;

/** Reads the file. Errors are worded as in kube-apiserver. */
export function readEgress(file: string, dialect: Dialect, observer?: EgressObserver): Egress {
  if (file === "") return {};
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(
      `failed to read egress selector config: unable to read egress selector configuration from ${JSON.stringify(file)} [${fileErrorText(error, file)}]`,
      { cause: error },
    );
  }
  return parseEgress(text, dialect, observer);
}

export function parseEgress(text: string, dialect: Dialect, observer?: EgressObserver): Egress {
  const selections = selectionsOf(text, dialect);
  const errors = [
    ...selections.flatMap(({ connection }) => connectionErrors(connection)),
    ...nameErrors(selections),
  ];
  if (errors.length > 0)
    throw new Error(`failed to validate egress selector configuration: ${fieldErrorsText(errors)}`);
  const egress: Partial<Record<Network, Dial>> = {};
  for (const { name, connection } of selections) {
    if (connection.proxyProtocol === "GRPC")
      throw new Error(
        "GRPC tunnels are not supported: their protocol belongs to one proxy, which also speaks HTTPConnect",
      );
    const { tcp, uds } = connection.transport ?? {};
    if (tcp) egress[name.toLowerCase() as Network] = dialThrough(tcpProxy(tcp), observer?.("tcp"));
    if (uds) egress[name.toLowerCase() as Network] = dialThrough({ path: uds.udsName! }, observer?.("uds"));
  }
  return egress;
}

/** Decodes the file. Its kind is checked; its version is ignored. */
function selectionsOf(text: string, dialect: Dialect): (EgressSelectionConfig & { readonly name: string })[] {
  const failed = (why: string, cause?: unknown): Error =>
    new Error(`failed to read egress selector config: ${why}`, { cause });
  /** Runs a step of decoding; its errors are prefixed with the step's name. */
  const step = <T>(name: string, run: () => T): T => {
    try {
      return run();
    } catch (error) {
      throw failed(`${name}: ${(error as Error).message}`, error);
    }
  };
  const value = step("error converting YAML to JSON", () => parseYaml(text).value) ?? {};
  const schema = inDialect(dialect, egressConfigKind());
  const decoded = step("error unmarshaling JSON: while decoding JSON", () =>
    fromJsonValue(schema, value as never),
  ).value;
  const { kind = "" } = value as { readonly kind?: string };
  if (kind !== egressConfigKind().kind.kind)
    throw failed(`invalid service configuration object ${JSON.stringify(kind)}`);
  return (decoded.egressSelections ?? []).map((each) => ({
    ...each,
    name: each.name === legacyName ? "controlplane" : (each.name ?? ""),
  }));
}

const path = "service.connection";

function nameErrors(selections: readonly { readonly name: string }[]): FieldError[] {
  const seen = new Set<string>();
  return selections.flatMap(({ name: given }, at) => {
    const name = given.toLowerCase();
    if (seen.has(name)) return [duplicate(`${path}[${at}]`, name)];
    seen.add(name);
    return networks.some((each) => each === name) ? [] : [notSupported(path, name, networks.toSorted())];
  });
}

function connectionErrors({ proxyProtocol = "", transport }: EgressConnection): FieldError[] {
  if (proxyProtocol === "Direct")
    return transport
      ? [invalidValue(`${path}.transport`, "direct", "Transport config should be absent for direct connect")]
      : [];
  if (proxyProtocol !== "HTTPConnect" && proxyProtocol !== "GRPC")
    return [notSupported(`${path}.protocol`, proxyProtocol, ["Direct", "HTTPConnect", "GRPC"])];
  if (!transport) return [required(`${path}.transport`, `transport must be set for ${proxyProtocol}`)];
  const { tcp, uds } = transport;
  if (proxyProtocol === "GRPC" && !uds) return [required(`${path}.uds`, "UDS must be set with GRPC")];
  if (proxyProtocol === "HTTPConnect" && tcp && uds)
    return [invalidValue(`${path}.tcp`, new LiteralValue(formatTcp(tcp)), "TCP and UDS cannot both be set")];
  if (uds)
    return uds.udsName
      ? []
      : [invalidValue(`${path}.udsName`, "nil", "UDSName should be present for UDS connections")];
  return tcp ? tcpErrors(tcp) : [required(`${path}.tcp`, "One of TCP or UDS must be set")];
}

/** Formats the transport as Go does, without the address in memory. */
const formatTcp = ({ url = "", tlsConfig }: EgressTcp): string =>
  `apiserver.TCPTransport{URL:${JSON.stringify(url)}, TLSConfig:(*apiserver.TLSConfig)(${tlsConfig ? "set" : "nil"})}`;

function tcpErrors({ url = "", tlsConfig: tls }: EgressTcp): FieldError[] {
  const field = `${path}.tlsConfig`;
  if (url.startsWith("http://"))
    return tls ? [invalidValue(field, "nil", "TLSConfig config should not be present when using HTTP")] : [];
  if (!url.startsWith("https://") || !URL.canParse(url))
    return [invalidValue(`${path}.url`, url, "supported connection protocols are http:// and https://")];
  if (!tls) return [required(field, "TLSConfig must be present when using HTTPS")];
  const { caBundle = "", clientCert = "", clientKey = "" } = tls;
  return [
    ...fileErrors(`${field}.caBundle`, caBundle, "TLS config ca bundle does not exist"),
    ...fileErrors(
      `${field}.clientCert`,
      clientCert,
      "TLS client cert does not exist",
      "Using TLS requires clientCert",
    ),
    // "requires" is repeated in the original, too.
    ...fileErrors(
      `${field}.clientKey`,
      clientKey,
      "TLS client key does not exist",
      "Using TLS requires requires clientKey",
    ),
  ];
}

function fileErrors(field: string, file: string, missing: string, needed?: string): FieldError[] {
  if (file === "") return needed === undefined ? [] : [invalidValue(field, "nil", needed)];
  return existsSync(file) ? [] : [invalidValue(field, file, missing)];
}

function tcpProxy({ url = "", tlsConfig }: EgressTcp) {
  const parsed = new URL(url);
  const secure = parsed.protocol === "https:";
  const host = parsed.hostname.replace(/^\[|\]$/g, "");
  const address = { host, port: Number(parsed.port || (secure ? 443 : 80)), secure };
  const { caBundle = "", clientCert = "", clientKey = "" } = tlsConfig ?? {};
  const read = (file: string): string => readFileSync(file, "utf8");
  const tls = () => ({
    ...(caBundle && { ca: read(caBundle) }),
    cert: read(clientCert),
    key: read(clientKey),
  });
  return secure ? { ...address, tls } : address;
}
