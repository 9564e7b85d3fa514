// Who is at the other end of a socket.
import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Peer } from "./call.ts";

const peers = new WeakMap<Socket, Peer>();

export function peerOf(socket: TLSSocket): Peer {
  const known = peers.get(socket);
  if (known) return known;
  let chain: readonly X509Certificate[] | undefined;
  const peer: Peer = {
    address: socket.remoteAddress ?? "",
    certificates: () => (chain ??= presentedChain(socket)),
  };
  peers.set(socket, peer);
  return peer;
}

function presentedChain(socket: TLSSocket): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<string>();
  for (
    let item = socket.getPeerCertificate?.(true);
    item?.raw && !seen.has(item.fingerprint256);
    item = item.issuerCertificate
  ) {
    seen.add(item.fingerprint256);
    chain.push(new X509Certificate(item.raw));
    if (!item.issuerCertificate || chain.length > 8) break;
  }
  return chain;
}
