// The connection to an aggregated server: its address, the verification of its certificate, and this server's
// client certificate.
import type { ConnectionOptions } from "node:tls";
import type { APIService } from "#api";
import { trust } from "#http";
import type { ResolveService, ServiceAddress } from "./resolve-service.ts";

/** Returns the client certificate that this server presents; reloaded when the files change. */
export type ClientPair = () => { readonly cert: string; readonly key: string } | undefined;

export interface Backend extends ServiceAddress {
  readonly tls: ConnectionOptions;
}

export async function backendOf(
  { spec }: APIService,
  resolve: ResolveService,
  pair: ClientPair,
): Promise<Backend> {
  const { namespace = "", name = "", port } = spec.service!;
  const address = await resolve(namespace, name, port ?? 443);
  const own = pair();
  return {
    ...address,
    tls: {
      servername: `${name}.${namespace}.svc`,
      ...(spec.caBundle && trust(Buffer.from(spec.caBundle, "base64").toString())),
      ...(spec.insecureSkipTLSVerify && { rejectUnauthorized: false }),
      ...(own && { cert: own.cert, key: own.key }),
    },
  };
}
