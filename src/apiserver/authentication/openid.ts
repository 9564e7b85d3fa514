// The two OpenID discovery documents with which other parties verify service account tokens.
import { type TokenKey, openIdDocuments, openIdMediaTypes, openIdPaths } from "#authn";
import { methodNotAllowed, withoutTrailing } from "#base";
import { type PathHandler, checkRoute } from "#endpoints";

export interface OpenIdOptions {
  readonly issuer: string;
  readonly verifying: readonly TokenKey[];
  readonly jwksUri: string;
  readonly externalAddress: string;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
}

const cacheSeconds = 3600;

/** Serves the issuer's documents. If they cannot be built, reports that to `onError` and serves nothing. */
export function openIdHandler({
  issuer,
  verifying,
  jwksUri,
  externalAddress,
  onError,
}: OpenIdOptions): PathHandler {
  let documents: ReturnType<typeof openIdDocuments>;
  try {
    documents = openIdDocuments({ issuer, jwksUri, externalAddress, keys: verifying });
  } catch (error) {
    if (issuer)
      onError("service account tokens are issued, but the documents to verify them cannot be published", {
        why: (error as Error).message,
      });
    return () => undefined;
  }
  return (call) => {
    const path = withoutTrailing(call.target.path, "/");
    const part =
      path === openIdPaths.configuration ? "configuration" : path === openIdPaths.keys ? "keys" : undefined;
    if (!part) return undefined;
    if (call.method !== "GET") throw methodNotAllowed();
    checkRoute(call.call, { produces: [openIdMediaTypes[part]] });
    return {
      status: 200,
      headers: { "content-type": openIdMediaTypes[part], "cache-control": `public, max-age=${cacheSeconds}` },
      body: Buffer.from(documents[part]),
    };
  };
}
