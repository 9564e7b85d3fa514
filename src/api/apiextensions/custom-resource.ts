// Custom resource definitions.
import {
  type TypeOf,
  bool,
  embedded,
  int32,
  list,
  optional,
  pointer,
  rawExtension,
  required,
  string,
  time,
} from "#schema";
import { hiddenDefault, mapList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { Status } from "../meta/status.ts";
import { ConditionStatus, UID } from "../named-types.ts";
import { apiextensions } from "../packages.ts";
import { webhookClientIn } from "../webhook-client.ts";
import { JSONSchemaProps } from "./json-schema.ts";

const { message, kind, named } = apiextensions;

export const { ServiceReference, WebhookClientConfig } = webhookClientIn(apiextensions);
export type ServiceReference = TypeOf<typeof ServiceReference>;
export type WebhookClientConfig = TypeOf<typeof WebhookClientConfig>;

export const WebhookConversion = message("WebhookConversion", "A webhook that converts between versions.", {
  clientConfig: optional(2, WebhookClientConfig, "How it is reached."),
  conversionReviewVersions: required(
    3,
    list(string),
    "Versions of the review that it understands, best first.",
  ),
});
export type WebhookConversion = TypeOf<typeof WebhookConversion>;

export const CustomResourceConversion = message(
  "CustomResourceConversion",
  "How objects get from one version to another.",
  {
    strategy: required(
      1,
      named("ConversionStrategyType", string),
      "None changes only apiVersion, Webhook asks a webhook.",
    ),
    webhook: optional(2, WebhookConversion, "The webhook to ask."),
  },
);
export type CustomResourceConversion = TypeOf<typeof CustomResourceConversion>;

export const CustomResourceDefinitionNames = message(
  "CustomResourceDefinitionNames",
  "What the resource and the kind are called.",
  {
    plural: required(1, string, "Name in paths."),
    singular: optional(2, string, "Name of one; the kind in lower case when unset."),
    shortNames: optional(3, list(string), "Abbreviations that tools accept."),
    kind: required(4, string, "The kind."),
    listKind: optional(5, string, "Kind of lists; the kind and List when unset."),
    categories: optional(6, list(string), "Families it belongs to, such as all."),
  },
);
export type CustomResourceDefinitionNames = TypeOf<typeof CustomResourceDefinitionNames>;

export const CustomResourceColumnDefinition = message(
  "CustomResourceColumnDefinition",
  "One column when objects are shown as a table.",
  {
    name: required(1, string, "Heading."),
    type: required(2, string, "Type of the cells."),
    format: optional(3, string, "Further says what the cells hold."),
    description: optional(4, string, "What the column means."),
    priority: optional(5, int32, "0 is always shown; higher ones only where there is room."),
    jsonPath: required(6, string, "Where in the object the value is."),
  },
);
export type CustomResourceColumnDefinition = TypeOf<typeof CustomResourceColumnDefinition>;

export const CustomResourceSubresourceStatus = message(
  "CustomResourceSubresourceStatus",
  "The status subresource; it has no settings.",
  {},
);
export type CustomResourceSubresourceStatus = TypeOf<typeof CustomResourceSubresourceStatus>;

export const CustomResourceSubresourceScale = message(
  "CustomResourceSubresourceScale",
  "The scale subresource.",
  {
    specReplicasPath: required(1, string, "Where the wanted number is."),
    statusReplicasPath: required(2, string, "Where the present number is."),
    labelSelectorPath: pointer(3, string, "Where the selector is, as text."),
  },
);
export type CustomResourceSubresourceScale = TypeOf<typeof CustomResourceSubresourceScale>;

export const CustomResourceSubresources = message(
  "CustomResourceSubresources",
  "Subresources of a version.",
  {
    status: optional(1, CustomResourceSubresourceStatus, "Whether there is a status subresource."),
    scale: optional(
      2,
      CustomResourceSubresourceScale,
      "Whether there is a scale subresource, and how it works.",
    ),
  },
);
export type CustomResourceSubresources = TypeOf<typeof CustomResourceSubresources>;

export const CustomResourceValidation = message(
  "CustomResourceValidation",
  "What objects of a version look like.",
  {
    openAPIV3Schema: optional(1, JSONSchemaProps, "The schema."),
  },
);
export type CustomResourceValidation = TypeOf<typeof CustomResourceValidation>;

export const CustomResourceDefinitionVersion = message(
  "CustomResourceDefinitionVersion",
  "One version of the kind.",
  {
    name: required(1, string, "Name of the version, such as v1."),
    served: required(2, bool, "Whether it is served."),
    storage: required(3, bool, "Whether objects are stored in it; true for exactly one."),
    deprecated: optional(7, bool, "Whether using it draws a warning."),
    deprecationWarning: pointer(8, string, "What the warning says."),
    schema: optional(4, CustomResourceValidation, "What its objects look like."),
    subresources: optional(5, CustomResourceSubresources, "Its subresources."),
    additionalPrinterColumns: optional(
      6,
      list(CustomResourceColumnDefinition),
      "Columns when its objects are shown as a table.",
    ),
  },
);
export type CustomResourceDefinitionVersion = TypeOf<typeof CustomResourceDefinitionVersion>;

export const CustomResourceDefinitionSpec = message("CustomResourceDefinitionSpec", "What kind is defined.", {
  group: required(1, string, "Group of the kind."),
  names: embedded(3, CustomResourceDefinitionNames, "What the resource and the kind are called.", {
    published: "required",
  }),
  scope: required(4, named("ResourceScope", string), "Cluster or Namespaced."),
  versions: required(7, list(CustomResourceDefinitionVersion), "Versions of the kind."),
  conversion: optional(
    9,
    CustomResourceConversion,
    "How objects get from one version to another.",
    hiddenDefault({ strategy: "None" }),
  ),
  preserveUnknownFields: optional(10, bool, "Keeps keys that no schema names; must be false."),
});
export type CustomResourceDefinitionSpec = TypeOf<typeof CustomResourceDefinitionSpec>;

export const CustomResourceDefinitionCondition = message(
  "CustomResourceDefinitionCondition",
  "One aspect of a definition's state.",
  {
    type: required(1, named("CustomResourceDefinitionConditionType", string), "What the condition is about."),
    status: required(2, ConditionStatus, "True, False or Unknown."),
    lastTransitionTime: embedded(3, time, "When the status last changed."),
    reason: optional(4, string, "One CamelCase word for the last change."),
    message: optional(5, string, "The last change, for people."),
  },
);
export type CustomResourceDefinitionCondition = TypeOf<typeof CustomResourceDefinitionCondition>;

export const CustomResourceDefinitionStatus = message(
  "CustomResourceDefinitionStatus",
  "How a definition fares.",
  {
    conditions: required(
      1,
      list(CustomResourceDefinitionCondition),
      "The latest observations, one for each type.",
      { ...mapList("type"), published: "optional" },
    ),
    acceptedNames: embedded(2, CustomResourceDefinitionNames, "Names that are in use for it."),
    storedVersions: required(3, list(string), "Versions in which objects may be stored.", {
      published: "optional",
    }),
  },
);
export type CustomResourceDefinitionStatus = TypeOf<typeof CustomResourceDefinitionStatus>;

export const CustomResourceDefinition = kind("CustomResourceDefinition", "Defines a kind.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, CustomResourceDefinitionSpec, "What kind is defined.", { published: "required" }),
  status: embedded(3, CustomResourceDefinitionStatus, "How it fares."),
});
export type CustomResourceDefinition = TypeOf<typeof CustomResourceDefinition>;

export const ConversionRequest = message("ConversionRequest", "Objects to convert.", {
  uid: required(1, UID, "Identity of this question; the answer repeats it."),
  desiredAPIVersion: required(2, string, "Version that is wanted."),
  objects: required(3, list(rawExtension), "The objects."),
});
export type ConversionRequest = TypeOf<typeof ConversionRequest>;

export const ConversionResponse = message("ConversionResponse", "The converted objects.", {
  uid: required(1, UID, "Identity of the question."),
  convertedObjects: required(2, list(rawExtension), "The objects, in the order of the question."),
  result: embedded(3, Status, "Whether it worked, and why not.", { published: "required" }),
});
export type ConversionResponse = TypeOf<typeof ConversionResponse>;

export const ConversionReview = kind(
  "ConversionReview",
  "A question to a conversion webhook, or its answer.",
  {
    request: optional(1, ConversionRequest, "The question."),
    response: optional(2, ConversionResponse, "The answer."),
  },
);
export type ConversionReview = TypeOf<typeof ConversionReview>;
