// Token requests and token reviews.
import { type TypeOf, bool, embedded, int64, list, map, optional, required, string, time } from "#schema";
import { hiddenDefault } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ExtraValue, UID } from "../named-types.ts";
import { authentication } from "../packages.ts";

const { message, kind } = authentication;

export const BoundObjectReference = message(
  "BoundObjectReference",
  "Reference to an object that a token is bound to.",
  {
    kind: optional(1, string, "Kind of the object: Pod or Secret."),
    apiVersion: optional(2, string, "API version of the object."),
    name: optional(3, string, "Name of the object."),
    uid: optional(4, UID, "UID of the object."),
  },
);
export type BoundObjectReference = TypeOf<typeof BoundObjectReference>;

export const TokenRequestSpec = message("TokenRequestSpec", "Specification of a token request.", {
  audiences: required(
    1,
    list(string),
    "Intended audiences of the token; defaults to those of the API server.",
  ),
  expirationSeconds: required(
    4,
    int64,
    "Requested lifetime in seconds; defaults to 3600, and the server may issue a different one.",
    {
      ...hiddenDefault(3600),
      nullable: true,
      published: "optional",
    },
  ),
  boundObjectRef: required(
    3,
    BoundObjectReference,
    "Object that the token is bound to; the token becomes invalid when the object is deleted.",
    {
      nullable: true,
      published: "optional",
    },
  ),
});
export type TokenRequestSpec = TypeOf<typeof TokenRequestSpec>;

export const TokenRequestStatus = message("TokenRequestStatus", "Result of a token request.", {
  token: required(1, string, "Opaque bearer token."),
  expirationTimestamp: embedded(2, time, "Time at which the token expires.", { published: "required" }),
});
export type TokenRequestStatus = TypeOf<typeof TokenRequestStatus>;

export const TokenRequest = kind("TokenRequest", "Requests a token of a service account.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, TokenRequestSpec, "Specification of the requested token.", { published: "required" }),
  status: embedded(3, TokenRequestStatus, "Issued token, set by the server."),
});
export type TokenRequest = TypeOf<typeof TokenRequest>;

export const UserInfo = message("UserInfo", "User information for authorization and auditing.", {
  username: optional(1, string, "Name that uniquely identifies the user."),
  uid: optional(2, string, "Unique ID of the user over time."),
  groups: optional(3, list(string), "Names of the groups that the user belongs to."),
  extra: optional(4, map(ExtraValue), "Extra attributes provided by the authenticator."),
});
export type UserInfo = TypeOf<typeof UserInfo>;

export const TokenReviewSpec = message("TokenReviewSpec", "Specification of a token review.", {
  token: optional(1, string, "Opaque bearer token to authenticate."),
  audiences: optional(
    2,
    list(string),
    "Audiences of the requesting server, one of which the token must be intended for.",
  ),
});
export type TokenReviewSpec = TypeOf<typeof TokenReviewSpec>;

export const TokenReviewStatus = message("TokenReviewStatus", "Result of a token review.", {
  authenticated: optional(1, bool, "Whether the token is valid for a known user."),
  user: embedded(2, UserInfo, "User that the token authenticates."),
  audiences: optional(4, list(string), "Audiences that both the token and the requesting server accept."),
  error: optional(3, string, "Error that prevented the token from being checked."),
});
export type TokenReviewStatus = TypeOf<typeof TokenReviewStatus>;

export const TokenReview = kind("TokenReview", "Attempts to authenticate a token to a known user.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, TokenReviewSpec, "Token to review.", { published: "required" }),
  status: embedded(3, TokenReviewStatus, "Result of the review, set by the server."),
});
export type TokenReview = TypeOf<typeof TokenReview>;
