// Authenticates tokens with a remote service, by a TokenReview.
import { TokenReview, type UserInfo, webhookReview } from "#api";
import type { Webhook } from "#client";
import { type Dialect, apiVersionOf } from "#dialect";
import { BadCredential } from "./authenticator.ts";
import type { TokenMethod } from "./bearer-token.ts";

export interface WebhookTokenOptions {
  readonly webhook: Webhook;
  readonly version: "v1" | "v1beta1";
  readonly dialect: Dialect;
  /** The audiences assumed for a service that does not support audiences. */
  readonly audiences: readonly string[];
  /** Called when the call of the service fails. */
  readonly onError: (error: Error) => void;
}

/** A failure of the service only fails this method: others may still recognize the token. */
export function webhookTokens(options: WebhookTokenOptions): TokenMethod {
  const { webhook, version, dialect, onError } = options;
  const apiVersion = apiVersionOf(dialect, { group: "authentication", branded: true, version });
  return {
    identify: async (token, audiences) => {
      const review = {
        kind: "TokenReview",
        apiVersion,
        metadata: { creationTimestamp: null },
        spec: { token, ...(audiences.length > 0 && { audiences }) },
        status: { user: {} },
      };
      let status: TokenReview["status"];
      try {
        ({ status } = webhookReview(await webhook.post(JSON.stringify(review)), TokenReview, review, true));
      } catch (error) {
        onError(error as Error);
        throw new BadCredential((error as Error).message);
      }
      const granted =
        audiences.length > 0 ? shared(audiences, status?.audiences, options.audiences) : undefined;
      if (granted?.length === 0) return undefined;
      if (status?.authenticated !== true) {
        if (status?.error) throw new BadCredential(status.error);
        return undefined;
      }
      const user = userOf(status.user);
      return { user, ...(granted && { audiences: granted }) };
    },
  };
}

const shared = (
  wanted: readonly string[],
  given: readonly string[] | undefined,
  implied: readonly string[],
): string[] => {
  const known = given && given.length > 0 ? given : implied;
  return known.filter((audience) => wanted.includes(audience));
};

const userOf = ({ username = "", uid, groups = [], extra }: UserInfo = {}) => ({
  name: username,
  ...(uid && { uid }),
  groups,
  ...(extra && Object.keys(extra).length > 0 && { extra }),
});
