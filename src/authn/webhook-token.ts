// Asks a remote service whose token it is, by a TokenReview.
import { webhookAnswer } from "#api";
import type { Webhook } from "#client";
import { type Dialect, apiVersionOf } from "#dialect";
import { BadCredential } from "./authenticator.ts";
import type { TokenMethod } from "./bearer-token.ts";

export interface WebhookTokenOptions {
  readonly webhook: Webhook;
  readonly version: "v1" | "v1beta1";
  readonly dialect: Dialect;
  /** What a service that knows no audiences speaks for. */
  readonly audiences: readonly string[];
  /** Told when the service cannot be asked. */
  readonly onError: (error: Error) => void;
}

interface Review {
  readonly status?: {
    readonly authenticated?: unknown;
    readonly error?: unknown;
    readonly audiences?: readonly string[];
    readonly user?: {
      readonly username?: unknown;
      readonly uid?: unknown;
      readonly groups?: unknown;
      readonly extra?: unknown;
    };
  };
}

/** The service's failures are failures of this method alone: others may still know the token. */
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
      let status: NonNullable<Review["status"]>;
      try {
        const answer = webhookAnswer(await webhook.post(JSON.stringify(review)), review, true) as Review;
        status = answer.status ?? {};
      } catch (error) {
        onError(error as Error);
        throw new BadCredential((error as Error).message);
      }
      const granted =
        audiences.length > 0 ? shared(audiences, status.audiences, options.audiences) : undefined;
      if (granted?.length === 0) return undefined;
      const { authenticated, error } = status;
      if (authenticated !== true) {
        if (typeof error === "string" && error !== "") throw new BadCredential(error);
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
  return wanted.filter((audience) => known.includes(audience));
};

type ReviewedUser = NonNullable<NonNullable<Review["status"]>["user"]>;

function userOf({ username, uid, groups, extra }: ReviewedUser = {}) {
  const texts = (value: unknown): string[] => {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
    throw new BadCredential("the token's review names groups or extra values that are no lists of text");
  };
  const more = Object.entries((extra ?? {}) as Record<string, unknown>).map(
    ([key, values]) => [key, texts(values)] as const,
  );
  return {
    name: typeof username === "string" ? username : "",
    ...(typeof uid === "string" && uid !== "" && { uid }),
    groups: texts(groups),
    ...(more.length > 0 && { extra: Object.fromEntries(more) }),
  };
}
