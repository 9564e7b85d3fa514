// `serviceaccounts/token`: issues tokens of service accounts.
import { TokenRequest } from "#api";
import { type TokenFeatures, type TokenKey, type TokenObjects, serveTokenRequest } from "#authn";
import { groupName } from "#dialect";
import type { VirtualResource } from "#endpoints";
import {
  type VirtualContext,
  admissionOf,
  encodeReply,
  decodeRequest,
  onlyCreate,
} from "./review-request.ts";

export interface TokenEndpointOptions {
  readonly issuer: string;
  /** The signing key; without one no tokens are issued. */
  readonly signing: TokenKey | undefined;
  readonly objects: TokenObjects;
  readonly audiences: readonly string[];
  /** 0 for no limit. */
  readonly maximumSeconds: number;
  readonly extend: boolean;
  readonly features: TokenFeatures;
}

/** Returns no endpoints without a signing key. */
export function tokenEndpoints(
  context: VirtualContext,
  { issuer, signing, ...others }: TokenEndpointOptions,
): readonly VirtualResource[] {
  const { dialect, clock } = context;
  if (!signing || !issuer) return [];
  const options = { issuer: { issuer, key: signing, dialect }, ...others };
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
        } = await decodeRequest<TokenRequest>(call, context, TokenRequest);
        const { namespace, name } = call.target;
        const { body, warnings, credentialId } = await serveTokenRequest(
          options,
          request,
          { namespace, name, now: clock.now() },
          admissionOf(call, context, TokenRequest, write),
        );
        for (const text of warnings) call.warn(text);
        if (credentialId !== undefined) call.annotate(dialect.names.audit.issuedCredentialId, credentialId);
        return encodeReply(201, body, TokenRequest, choice, context);
      },
    },
  ];
}
