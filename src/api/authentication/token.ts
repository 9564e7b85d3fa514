// Token requests and token reviews.
import { type TypeOf, bool, embedded, int64, list, map, optional, required, string, time } from "#schema";
import { hiddenDefault } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ExtraValue, UID } from "../named-types.ts";
import { authentication } from "../packages.ts";

const { message, kind } = authentication;

export const BoundObjectReference = message("BoundObjectReference", "The object a token ends with.", {
  kind: optional(1, string, "Pod or Secret."),
  apiVersion: optional(2, string, "Version of the object."),
  name: optional(3, string, "Name of the object."),
  uid: optional(4, UID, "Identity of the object."),
});
export type BoundObjectReference = TypeOf<typeof BoundObjectReference>;

export const TokenRequestSpec = message("TokenRequestSpec", "What token is asked for.", {
  audiences: required(1, list(string), "Who is to accept it; the API server when empty."),
  expirationSeconds: required(4, int64, "How long it should be good; the server may change it.", {
    ...hiddenDefault(3600),
    nullable: true,
    published: "optional",
  }),
  boundObjectRef: required(3, BoundObjectReference, "The object it ends with.", {
    nullable: true,
    published: "optional",
  }),
});
export type TokenRequestSpec = TypeOf<typeof TokenRequestSpec>;

export const TokenRequestStatus = message("TokenRequestStatus", "The token.", {
  token: required(1, string, "The token itself."),
  expirationTimestamp: embedded(2, time, "When it runs out.", { published: "required" }),
});
export type TokenRequestStatus = TypeOf<typeof TokenRequestStatus>;

export const TokenRequest = kind("TokenRequest", "Asks for a token of a service account.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, TokenRequestSpec, "What token is asked for.", { published: "required" }),
  status: embedded(3, TokenRequestStatus, "The token."),
});
export type TokenRequest = TypeOf<typeof TokenRequest>;

export const UserInfo = message("UserInfo", "Who a user is.", {
  username: optional(1, string, "Name of the user."),
  uid: optional(2, string, "Identity of the user."),
  groups: optional(3, list(string), "Groups the user is in."),
  extra: optional(4, map(ExtraValue), "What else the authenticator knows."),
});
export type UserInfo = TypeOf<typeof UserInfo>;

export const TokenReviewSpec = message("TokenReviewSpec", "The token in question.", {
  token: optional(1, string, "The token itself."),
  audiences: optional(2, list(string), "Who the asker is; any match will do."),
});
export type TokenReviewSpec = TypeOf<typeof TokenReviewSpec>;

export const TokenReviewStatus = message("TokenReviewStatus", "Whose token it is.", {
  authenticated: optional(1, bool, "Whether the token is good."),
  user: embedded(2, UserInfo, "Whose token it is."),
  audiences: optional(4, list(string), "Audiences of the asker that the token is for."),
  error: optional(3, string, "Why the token could not be checked."),
});
export type TokenReviewStatus = TypeOf<typeof TokenReviewStatus>;

export const TokenReview = kind("TokenReview", "Asks whose a token is.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, TokenReviewSpec, "The token in question.", { published: "required" }),
  status: embedded(3, TokenReviewStatus, "Whose token it is."),
});
export type TokenReview = TypeOf<typeof TokenReview>;
