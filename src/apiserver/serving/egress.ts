// The file of --egress-selector-config-file: through which proxy connections to the control plane, to the
// cluster and to etcd go.
//
//   egressSelections:
//     - name: cluster
//       connection: { proxyProtocol: HTTPConnect, transport: { uds: { udsName: /run/proxy.sock } } }
import { existsSync, readFileSync } from "node:fs";
import type { Dialect } from "#dialect";
import { type Dial, type DialObserver, dialThrough } from "#http";
import { parseYaml } from "#schema";
import { type Fields, fieldsOf, itemsOf, textOf, wrong } from "../admission/config-reader.ts";

/** How to get to each of the networks; absent where connections go straight. */
export interface Egress {
  readonly controlplane?: Dial;
  readonly cluster?: Dial;
  readonly etcd?: Dial;
}

const networks = ["controlplane", "cluster", "etcd"] as const;
type Network = (typeof networks)[number];
/** What the network of the control plane was called before, in the versions that are read here. */
const formerName = "master";

/** Told of the connections through proxies that are reached in one way. */
export type EgressObserver = (transport: "tcp" | "uds") => DialObserver;

/** Throws naming the file and the field. */
export function readEgress(file: string, dialect: Dialect, observer?: EgressObserver): Egress {
  if (file === "") return {};
  try {
    return parseEgress(readFileSync(file, "utf8"), dialect, observer);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

export function parseEgress(text: string, dialect: Dialect, observer?: EgressObserver): Egress {
  const root = fieldsOf(parseYaml(text).value, "");
  only(root, ["apiVersion", "kind", "egressSelections"], "");
  if (textOf(root["kind"], "kind") !== "EgressSelectorConfiguration")
    throw wrong(
      "kind",
      `must be EgressSelectorConfiguration of apiserver.${dialect.wire.groupSuffix}/v1beta1`,
    );
  const egress: Partial<Record<Network, Dial>> = {};
  const seen = new Set<string>();
  itemsOf(root["egressSelections"], "egressSelections").forEach((item, at) => {
    const path = `egressSelections[${at}]`;
    const selection = fieldsOf(item, path);
    only(selection, ["name", "connection"], path);
    const given = textOf(selection["name"], `${path}.name`).toLowerCase();
    const name = given === formerName ? "controlplane" : given;
    const network = networks.find((each) => each === name);
    if (!network) throw wrong(`${path}.name`, `must be one of ${networks.join(", ")}`);
    if (seen.has(name)) throw wrong(`${path}.name`, `${name} is there twice`);
    seen.add(name);
    const connection = fieldsOf(selection["connection"], `${path}.connection`);
    const dial = dialOf(connection, `${path}.connection`, observer);
    if (dial) egress[network] = dial;
  });
  return egress;
}

function dialOf(connection: Fields, path: string, observer: EgressObserver | undefined): Dial | undefined {
  only(connection, ["proxyProtocol", "transport"], path);
  const { transport } = connection;
  const protocol = textOf(connection["proxyProtocol"], `${path}.proxyProtocol`);
  if (protocol === "Direct") {
    if (transport !== undefined && transport !== null)
      throw wrong(`${path}.transport`, "must be absent where connections go straight");
    return undefined;
  }
  if (protocol === "GRPC")
    throw wrong(
      `${path}.proxyProtocol`,
      "GRPC tunnels are not supported: their protocol belongs to one proxy, which also speaks HTTPConnect",
    );
  if (protocol !== "HTTPConnect")
    throw wrong(`${path}.proxyProtocol`, "must be Direct or HTTPConnect (GRPC is not supported)");
  if (transport === undefined || transport === null)
    throw wrong(`${path}.transport`, "must be given for HTTPConnect");
  return proxyOf(fieldsOf(transport, `${path}.transport`), `${path}.transport`, observer);
}

function proxyOf(transport: Fields, path: string, observer: EgressObserver | undefined): Dial {
  only(transport, ["tcp", "uds"], path);
  const { tcp, uds } = transport;
  const given = [tcp, uds].filter((each) => each !== undefined && each !== null);
  if (given.length !== 1) throw wrong(`${path}.tcp`, "exactly one of tcp and uds must be given");
  if (tcp === undefined || tcp === null) {
    const socket = fieldsOf(uds, `${path}.uds`);
    only(socket, ["udsName"], `${path}.uds`);
    const name = textOf(socket["udsName"], `${path}.uds.udsName`);
    if (name === "") throw wrong(`${path}.uds.udsName`, "must be given");
    return dialThrough({ path: name }, observer?.("uds"));
  }
  const { url, tlsConfig, ...more } = fieldsOf(tcp, `${path}.tcp`);
  only(more, [], `${path}.tcp`);
  const address = addressOf(textOf(url, `${path}.tcp.url`), `${path}.tcp.url`);
  const tlsPath = `${path}.tcp.tlsConfig`;
  const hasTls = tlsConfig !== undefined && tlsConfig !== null;
  if (hasTls !== address.secure)
    throw wrong(tlsPath, address.secure ? "must be given for https" : "must be absent for http");
  return dialThrough(
    address.secure ? { ...address, tls: tlsOf(fieldsOf(tlsConfig, tlsPath), tlsPath) } : address,
    observer?.("tcp"),
  );
}

function addressOf(url: string, path: string): { host: string; port: number; secure: boolean } {
  const parsed = /^https?:\/\//.test(url) ? URL.parse(url) : null;
  if (!parsed) throw wrong(path, "must begin with http:// or https://");
  const secure = parsed.protocol === "https:";
  const host = parsed.hostname.replace(/^\[|\]$/g, "");
  return { host, port: Number(parsed.port || (secure ? 443 : 80)), secure };
}

function tlsOf(tls: Fields, path: string): () => { ca?: string; cert: string; key: string } {
  only(tls, ["caBundle", "clientKey", "clientCert"], path);
  const fileOf = (field: string, needed: boolean): string => {
    const file = textOf(tls[field], `${path}.${field}`);
    if (needed && file === "") throw wrong(`${path}.${field}`, "must be given");
    if (file !== "" && !existsSync(file)) throw wrong(`${path}.${field}`, `${file} does not exist`);
    return file;
  };
  const [ca, cert, key] = [fileOf("caBundle", false), fileOf("clientCert", true), fileOf("clientKey", true)];
  const read = (file: string): string => readFileSync(file, "utf8");
  return () => ({ ...(ca && { ca: read(ca) }), cert: read(cert), key: read(key) });
}

function only(given: Fields, known: readonly string[], path: string): void {
  const other = Object.keys(given).find((key) => !known.includes(key));
  if (other !== undefined) throw wrong(path === "" ? other : `${path}.${other}`, "is not known");
}
