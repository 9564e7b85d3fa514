// Self subject reviews, which return the attributes of the requesting user.
import { type TypeOf, embedded } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { authentication, authenticationV1alpha1, authenticationV1beta1 } from "../packages.ts";
import { UserInfo } from "./token.ts";

/** Declares the kind, which is the same in all of its versions. */
function selfReview({ message, kind }: typeof authenticationV1beta1) {
  const status = message("SelfSubjectReviewStatus", "Result of a self subject review.", {
    userInfo: embedded(1, UserInfo, "User information of the requesting user, as seen by the server."),
  });
  const review = kind(
    "SelfSubjectReview",
    "Returns the user information of the requesting user, as seen by the server.",
    {
      metadata: embedded(1, ObjectMeta, "Standard object metadata."),
      status: embedded(2, status, "User information, set by the server."),
    },
  );
  return { status, review };
}

export const { status: SelfSubjectReviewStatus, review: SelfSubjectReview } =
  selfReview(authenticationV1beta1);
export type SelfSubjectReviewStatus = TypeOf<typeof SelfSubjectReviewStatus>;
export type SelfSubjectReview = TypeOf<typeof SelfSubjectReview>;

/** Added by release 1.28. */
export const { review: SelfSubjectReviewV1 } = selfReview(authentication);
export const { review: SelfSubjectReviewV1alpha1 } = selfReview(authenticationV1alpha1);
