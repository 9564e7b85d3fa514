// Self subject reviews, which return the attributes of the requesting user.
import { type TypeOf, embedded } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { authenticationV1alpha1, authenticationV1beta1 } from "../packages.ts";
import { UserInfo } from "./token.ts";

/** Declares the kind, which is the same in both of its versions. */
function selfReview({ message, kind }: typeof authenticationV1beta1) {
  const status = message("SelfSubjectReviewStatus", "Who the asker is.", {
    userInfo: embedded(1, UserInfo, "Name, groups and whatever else is known."),
  });
  const review = kind("SelfSubjectReview", "Asks who the asker is.", {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    status: embedded(2, status, "The answer."),
  });
  return { status, review };
}

export const { status: SelfSubjectReviewStatus, review: SelfSubjectReview } =
  selfReview(authenticationV1beta1);
export type SelfSubjectReviewStatus = TypeOf<typeof SelfSubjectReviewStatus>;
export type SelfSubjectReview = TypeOf<typeof SelfSubjectReview>;

export const { review: SelfSubjectReviewV1alpha1 } = selfReview(authenticationV1alpha1);
