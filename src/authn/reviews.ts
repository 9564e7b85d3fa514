// Serves TokenReview and SelfSubjectReview.

import type { TokenReview, UserInfo } from "#api";
import { badRequest } from "#base";
import { BadCredential } from "./authenticator.ts";
import { type TokenMethod, bearerToken, identifyToken } from "./bearer-token.ts";
import type { User } from "./user.ts";

/** Returns a user in the form used by reviews. */
export function userInfo({ name, uid, groups, extra }: User): UserInfo {
  const more = Object.entries(extra ?? {});
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length && { groups: [...groups] }),
    ...(more.length && { extra: Object.fromEntries(more.map(([key, values]) => [key, [...values]])) }),
  };
}

/** Returns the TokenReview with its status. A bad token is reported in the status, not as an error. */
export async function reviewToken(
  review: TokenReview,
  methods: readonly TokenMethod[],
  ownAudiences: readonly string[],
): Promise<TokenReview> {
  const { token, audiences } = review.spec;
  if (!token) throw badRequest("token is required for TokenReview in authentication");
  const requested = audiences?.length ? audiences : ownAudiences;
  try {
    // Parsed as in an Authorization header: the token ends at a space.
    const identity = await identifyToken(methods, bearerToken(`Bearer ${token}`) ?? token, requested);
    return {
      ...review,
      status: {
        authenticated: true,
        user: userInfo(identity.user),
        ...(identity.audiences?.length && { audiences: [...identity.audiences] }),
      },
    };
  } catch (error) {
    if (!(error instanceof BadCredential)) throw error;
    return { ...review, status: { user: {}, error: error.message } };
  }
}

export interface SelfSubjectReview {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: object;
  readonly status?: { readonly userInfo?: UserInfo };
}

/** Returns the review with the requesting user; other fields of the request are not echoed. */
export const reviewSelf = (
  { kind, apiVersion }: SelfSubjectReview,
  user: User,
  now: number,
): SelfSubjectReview => ({
  ...(kind && { kind }),
  ...(apiVersion && { apiVersion }),
  metadata: { creationTimestamp: `${new Date(now).toISOString().slice(0, 19)}Z` },
  status: { userInfo: userInfo(user) },
});
