// Label selectors.
import { type TypeOf, list, map, optional, required, string } from "#schema";
import { atomicList, keepingEmpty, patchMerge } from "../extras.ts";
import { meta } from "../packages.ts";

const { message, named } = meta;

export const LabelSelectorRequirement = message(
  "LabelSelectorRequirement",
  "A requirement on the value of a label.",
  {
    key: required(1, string, "Label key that the requirement applies to.", patchMerge("key")),
    operator: required(
      2,
      named("LabelSelectorOperator", string),
      "Relation between the key and the values: In, NotIn, Exists or DoesNotExist.",
    ),
    values: optional(3, list(string), "Values to compare with; must be empty for Exists and DoesNotExist."),
  },
);
export type LabelSelectorRequirement = TypeOf<typeof LabelSelectorRequirement>;

export const FieldSelectorRequirement = message(
  "FieldSelectorRequirement",
  "A requirement on the value of a field.",
  {
    key: required(1, string, "Field that the requirement applies to."),
    operator: required(
      2,
      named("FieldSelectorOperator", string),
      "Relation between the field and the values: In, NotIn, Exists or DoesNotExist; others may follow.",
    ),
    values: optional(
      3,
      list(string),
      "Values to compare with; must be empty for Exists and DoesNotExist.",
      atomicList,
    ),
  },
);
export type FieldSelectorRequirement = TypeOf<typeof FieldSelectorRequirement>;

export const LabelSelector = message(
  "LabelSelector",
  "A query over labels, whose requirements are ANDed; empty matches all objects, null matches none.",
  {
    matchLabels: optional(
      1,
      map(string),
      "Labels that must have exactly these values; equivalent to requirements with operator In.",
    ),
    matchExpressions: optional(2, list(LabelSelectorRequirement), "Further label selector requirements."),
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
