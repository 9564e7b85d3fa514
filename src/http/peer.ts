// The client's end of a socket.
import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Peer } from "./call.ts";

const peers = new WeakMap<Socket, Peer>();
/** Longer chains are truncated: verifiers do not follow them. */
const maxChainLength = 10;

/** Returns the peer of a connection; its certificates are parsed once, on first access. */
export function peerOf(socket: TLSSocket): Peer {
  const known = peers.get(socket);
  if (known) return known;
  let chain: readonly X509Certificate[] | undefined;
  const peer: Peer = {
    address: socket.remoteAddress ?? "",
    port: socket.remotePort,
    certificates: () => (chain ??= presentedChain(socket)),
  };
  peers.set(socket, peer);
  return peer;
}

function presentedChain(socket: TLSSocket): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<string>();
  let next = socket.getPeerCertificate?.(true);
  while (next?.raw && !seen.has(next.fingerprint256) && chain.length < maxChainLength) {
    seen.add(next.fingerprint256);
    chain.push(new X509Certificate(next.raw));
    next = next.issuerCertificate;
  }
  return chain;
}
