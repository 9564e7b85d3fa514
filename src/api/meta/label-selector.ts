// Label selectors.
import { type TypeOf, list, map, optional, required, string } from "#schema";
import { keepingEmpty, patchMerge } from "../extras.ts";
import { meta } from "../packages.ts";

const { message, named } = meta;

export const LabelSelectorRequirement = message("LabelSelectorRequirement", "One condition on one label.", {
  key: required(1, string, "The label in question.", patchMerge("key")),
  operator: required(2, named("LabelSelectorOperator", string), "In, NotIn, Exists or DoesNotExist."),
  values: optional(3, list(string), "What the label may or may not be; empty for the existence operators."),
});
export type LabelSelectorRequirement = TypeOf<typeof LabelSelectorRequirement>;

export const LabelSelector = message(
  "LabelSelector",
  "All conditions must hold; an empty selector matches everything, an absent one nothing.",
  {
    matchLabels: optional(1, map(string), "Labels that must have exactly these values."),
    matchExpressions: optional(2, list(LabelSelectorRequirement), "Further conditions."),
  },
  { atomic: true },
);
export type LabelSelector = TypeOf<typeof LabelSelector>;

/** A selector for kinds in which changing an absent list or map to an empty one is a change of the object. */
export const EmptyKeepingLabelSelector: typeof LabelSelector = {
  ...LabelSelector,
  fields: {
    matchLabels: keepingEmpty(LabelSelector.fields.matchLabels),
    matchExpressions: keepingEmpty(LabelSelector.fields.matchExpressions),
  },
  more: { ...LabelSelector.more, variantOf: LabelSelector },
};
