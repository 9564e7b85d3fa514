// Asking who one is.
import { type TypeOf, embedded } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { authenticationV1beta1 } from "../packages.ts";
import { UserInfo } from "./token.ts";

const { message, kind } = authenticationV1beta1;

export const SelfSubjectReviewStatus = message("SelfSubjectReviewStatus", "Who the asker is.", {
  userInfo: embedded(1, UserInfo, "Name, groups and whatever else is known."),
});
export type SelfSubjectReviewStatus = TypeOf<typeof SelfSubjectReviewStatus>;

export const SelfSubjectReview = kind("SelfSubjectReview", "Asks who the asker is.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  status: embedded(2, SelfSubjectReviewStatus, "The answer."),
});
export type SelfSubjectReview = TypeOf<typeof SelfSubjectReview>;
