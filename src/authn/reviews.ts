// Answers "whose token is this?" and "who am I?".

import type { TokenReview, UserInfo } from "#api";
import { badRequest } from "#base";
import { BadCredential } from "./authenticator.ts";
import { type TokenMethod, bearerToken, identifyToken } from "./bearer-token.ts";
import type { User } from "./user.ts";

/** A user as reviews write it. */
export function userInfo({ name, uid, groups, extra }: User): UserInfo {
  const more = Object.entries(extra ?? {});
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length && { groups: [...groups] }),
    ...(more.length && { extra: Object.fromEntries(more.map(([key, values]) => [key, [...values]])) }),
  };
}

/** Fills in the status of a TokenReview. A bad token is an answer, not an error. */
export async function reviewToken(
  review: TokenReview,
  methods: readonly TokenMethod[],
  ownAudiences: readonly string[],
): Promise<TokenReview> {
  const { token, audiences } = review.spec;
  if (!token) throw badRequest("token is required for TokenReview in authentication");
  const asked = audiences?.length ? audiences : ownAudiences;
  try {
    // A header would carry it: what follows a space is no part of it.
    const identity = await identifyToken(methods, bearerToken(`Bearer ${token}`) ?? token, asked);
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

/** Says who is asking; what the question carried is not repeated. */
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
