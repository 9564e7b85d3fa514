// Tokens of service accounts: `serviceaccounts/token` issues them, and two documents tell others how to
// verify them.
import { TokenRequest } from "#api";
import { answerTokenRequest, openIdDocuments, openIdMediaTypes, openIdPaths } from "#authn";
import { ApiError, methodNotAllowed } from "#base";
import { groupName } from "#dialect";
import type { VirtualResource } from "./catalog.ts";
import type { Identities } from "./identity.ts";
import { takes } from "./paths.ts";
import type { PathHandler } from "./router.ts";
import { type SpecialContext, admit, answer, asked, onlyCreate } from "./special.ts";

export interface TokenEndpointOptions {
  readonly identities: Identities;
  /** 0 for no limit. */
  readonly maximumSeconds: number;
  readonly extend: boolean;
}

/** Nothing where no key signs. */
export function tokenEndpoints(
  context: SpecialContext,
  { identities, maximumSeconds, extend }: TokenEndpointOptions,
): readonly VirtualResource[] {
  const { issuer, signing, objects, audiences } = identities;
  const { dialect, clock } = context;
  if (!signing || !issuer) return [];
  const options = { issuer: { issuer, key: signing, dialect }, objects, audiences, maximumSeconds, extend };
  return [
    {
      path: "serviceaccounts/token",
      kind: "TokenRequest",
      kindGroup: { group: groupName(dialect, { group: "authentication", branded: true }), version: "v1" },
      namespaced: true,
      verbs: ["create"],
      handle: async (call) => {
        onlyCreate(call, { namespaced: true, subresource: true });
        const {
          object: request,
          options: write,
          choice,
        } = await asked<TokenRequest>(call, context, TokenRequest);
        const { namespace, name } = call.target;
        const { body, warnings } = await answerTokenRequest(
          options,
          request,
          { namespace, name, now: clock.now() },
          (draft) => admit(call, context, TokenRequest, draft, write),
        );
        for (const text of warnings) call.warn(text);
        return answer(201, body, TokenRequest, choice, context);
      },
    },
  ];
}

const cacheSeconds = 3600;

/** The documents of the issuer; nothing when it cannot have any, of which `onError` hears. */
export function openIdHandler(
  { issuer, verifying }: Identities,
  jwksUri: string,
  externalAddress: string,
  onError: (message: string, fields: Record<string, unknown>) => void,
): PathHandler {
  let documents: ReturnType<typeof openIdDocuments>;
  try {
    documents = openIdDocuments({ issuer, jwksUri, externalAddress, keys: verifying });
  } catch (error) {
    if (issuer)
      onError("service account tokens are issued, but nobody else can learn how to verify them", {
        why: (error as Error).message,
      });
    return () => undefined;
  }
  return (call) => {
    const { path } = call.target;
    const part =
      path === openIdPaths.configuration ? "configuration" : path === openIdPaths.keys ? "keys" : undefined;
    if (!part) return undefined;
    if (call.method !== "GET") throw methodNotAllowed();
    if (!takes(call, openIdMediaTypes[part]))
      throw new ApiError(
        406,
        "NotAcceptable",
        `only the following media types are accepted: ${openIdMediaTypes[part]}`,
        {},
      );
    return {
      status: 200,
      headers: { "content-type": openIdMediaTypes[part], "cache-control": `public, max-age=${cacheSeconds}` },
      body: Buffer.from(documents[part]),
    };
  };
}
