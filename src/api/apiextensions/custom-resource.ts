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
import { atomicList, gated, hiddenDefault, mapList } from "../extras.ts";
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

export const WebhookConversion = message("WebhookConversion", "Configuration of a conversion webhook.", {
  clientConfig: optional(2, WebhookClientConfig, "How to connect to the webhook."),
  conversionReviewVersions: required(
    3,
    list(string),
    "ConversionReview versions that the webhook accepts, in order of preference.",
  ),
});
export type WebhookConversion = TypeOf<typeof WebhookConversion>;

export const CustomResourceConversion = message(
  "CustomResourceConversion",
  "How custom resources are converted between versions.",
  {
    strategy: required(
      1,
      named("ConversionStrategyType", string),
      "Conversion strategy: None changes only apiVersion, Webhook calls a webhook.",
    ),
    webhook: optional(2, WebhookConversion, "Webhook to call; required if the strategy is Webhook."),
  },
);
export type CustomResourceConversion = TypeOf<typeof CustomResourceConversion>;

export const CustomResourceDefinitionNames = message(
  "CustomResourceDefinitionNames",
  "Names of a custom resource.",
  {
    plural: required(1, string, "Plural name of the resource, used in paths."),
    singular: optional(2, string, "Singular name of the resource; defaults to the kind in lower case."),
    shortNames: optional(3, list(string), "Short names of the resource."),
    kind: required(4, string, "Kind of the objects, in CamelCase and singular."),
    listKind: optional(5, string, "Kind of lists of the objects; defaults to the kind followed by List."),
    categories: optional(6, list(string), "Categories that the resource belongs to, such as all."),
  },
);
export type CustomResourceDefinitionNames = TypeOf<typeof CustomResourceDefinitionNames>;

export const CustomResourceColumnDefinition = message(
  "CustomResourceColumnDefinition",
  "An additional column of the printed table.",
  {
    name: required(1, string, "Human-readable name of the column."),
    type: required(2, string, "OpenAPI type of the values."),
    format: optional(3, string, "OpenAPI format of the values, such as name."),
    description: optional(4, string, "Human-readable description of the column."),
    priority: optional(
      5,
      int32,
      "Priority; columns with 0 are always shown, higher values only if there is space.",
    ),
    jsonPath: required(6, string, "Simple JSON path of the value in the object."),
  },
);
export type CustomResourceColumnDefinition = TypeOf<typeof CustomResourceColumnDefinition>;

export const CustomResourceSubresourceStatus = message(
  "CustomResourceSubresourceStatus",
  "The status subresource; it has no parameters.",
  {},
);
export type CustomResourceSubresourceStatus = TypeOf<typeof CustomResourceSubresourceStatus>;

export const CustomResourceSubresourceScale = message(
  "CustomResourceSubresourceScale",
  "Parameters of the scale subresource.",
  {
    specReplicasPath: required(1, string, "JSON path of the desired number of replicas, below .spec."),
    statusReplicasPath: required(2, string, "JSON path of the current number of replicas, below .status."),
    labelSelectorPath: pointer(
      3,
      string,
      "JSON path of the serialized label selector, below .spec or .status.",
    ),
  },
);
export type CustomResourceSubresourceScale = TypeOf<typeof CustomResourceSubresourceScale>;

export const CustomResourceSubresources = message(
  "CustomResourceSubresources",
  "Subresources of a custom resource.",
  {
    status: optional(1, CustomResourceSubresourceStatus, "Enables the status subresource."),
    scale: optional(2, CustomResourceSubresourceScale, "Enables the scale subresource."),
  },
);
export type CustomResourceSubresources = TypeOf<typeof CustomResourceSubresources>;

export const CustomResourceValidation = message(
  "CustomResourceValidation",
  "Validation of custom resources.",
  {
    openAPIV3Schema: optional(1, JSONSchemaProps, "OpenAPI v3 schema of the custom resources."),
  },
);
export type CustomResourceValidation = TypeOf<typeof CustomResourceValidation>;

export const SelectableField = message("SelectableField", "A field that field selectors may use.", {
  jsonPath: required(
    1,
    string,
    "Path of a string, boolean or integer field outside of metadata, without array notation.",
  ),
});
export type SelectableField = TypeOf<typeof SelectableField>;

export const CustomResourceDefinitionVersion = message(
  "CustomResourceDefinitionVersion",
  "A version of a custom resource.",
  {
    name: required(1, string, "Name of the version, such as v1 or v2beta1."),
    served: required(2, bool, "Whether the version is served by the API."),
    storage: required(
      3,
      bool,
      "Whether objects are persisted in this version; must be true for exactly one version.",
    ),
    deprecated: optional(
      7,
      bool,
      "Whether the version is deprecated, in which case requests for it return a warning.",
    ),
    deprecationWarning: pointer(8, string, "Text that replaces the default deprecation warning."),
    schema: optional(4, CustomResourceValidation, "Schema for validation, pruning and defaulting."),
    subresources: optional(5, CustomResourceSubresources, "Subresources of the version."),
    additionalPrinterColumns: optional(
      6,
      list(CustomResourceColumnDefinition),
      "Additional columns of the printed table; defaults to the age of the object.",
    ),
    selectableFields: optional(9, list(SelectableField), "Fields that field selectors may use, at most 8.", {
      ...atomicList,
      ...gated("CustomResourceFieldSelectors"),
    }),
  },
);
export type CustomResourceDefinitionVersion = TypeOf<typeof CustomResourceDefinitionVersion>;

export const CustomResourceDefinitionSpec = message(
  "CustomResourceDefinitionSpec",
  "Specification of a custom resource definition.",
  {
    group: required(1, string, "API group of the custom resource."),
    names: embedded(3, CustomResourceDefinitionNames, "Names of the resource and its kind.", {
      published: "required",
    }),
    scope: required(
      4,
      named("ResourceScope", string),
      "Scope of the custom resource: Cluster or Namespaced.",
    ),
    versions: required(7, list(CustomResourceDefinitionVersion), "Versions of the custom resource."),
    conversion: optional(
      9,
      CustomResourceConversion,
      "Conversion between versions; defaults to strategy None.",
      hiddenDefault({ strategy: "None" }),
    ),
    preserveUnknownFields: optional(
      10,
      bool,
      "Deprecated: whether fields without a schema are persisted; must be false.",
    ),
  },
);
export type CustomResourceDefinitionSpec = TypeOf<typeof CustomResourceDefinitionSpec>;

export const CustomResourceDefinitionCondition = message(
  "CustomResourceDefinitionCondition",
  "A condition of a custom resource definition.",
  {
    type: required(1, named("CustomResourceDefinitionConditionType", string), "Type of the condition."),
    status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
    lastTransitionTime: embedded(3, time, "Time at which the status of the condition last changed."),
    reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
    message: optional(5, string, "Human-readable details of the last transition."),
  },
);
export type CustomResourceDefinitionCondition = TypeOf<typeof CustomResourceDefinitionCondition>;

export const CustomResourceDefinitionStatus = message(
  "CustomResourceDefinitionStatus",
  "Current status of a custom resource definition.",
  {
    conditions: required(
      1,
      list(CustomResourceDefinitionCondition),
      "Latest observed conditions, one for each type.",
      { ...mapList("type"), published: "optional" },
    ),
    acceptedNames: embedded(
      2,
      CustomResourceDefinitionNames,
      "Names that are actually served, which may differ from the specified ones on a conflict.",
    ),
    storedVersions: required(3, list(string), "Versions in which objects have ever been persisted.", {
      published: "optional",
    }),
  },
);
export type CustomResourceDefinitionStatus = TypeOf<typeof CustomResourceDefinitionStatus>;

export const CustomResourceDefinition = kind("CustomResourceDefinition", "Defines a custom resource.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, CustomResourceDefinitionSpec, "Specification of the custom resource.", {
    published: "required",
  }),
  status: embedded(3, CustomResourceDefinitionStatus, "Current status of the definition."),
});
export type CustomResourceDefinition = TypeOf<typeof CustomResourceDefinition>;

export const ConversionRequest = message("ConversionRequest", "A request to convert custom resources.", {
  uid: required(1, UID, "UID of this call of the webhook, which the response must repeat."),
  desiredAPIVersion: required(2, string, "API version to convert the objects to."),
  objects: required(3, list(rawExtension), "Custom resources to convert."),
});
export type ConversionRequest = TypeOf<typeof ConversionRequest>;

export const ConversionResponse = message("ConversionResponse", "Response to a conversion request.", {
  uid: required(1, UID, "UID of the conversion request."),
  convertedObjects: required(2, list(rawExtension), "Converted objects, in the order of the request."),
  result: embedded(3, Status, "Result of the conversion, with a message on failure.", {
    published: "required",
  }),
});
export type ConversionResponse = TypeOf<typeof ConversionResponse>;

export const ConversionReview = kind(
  "ConversionReview",
  "A request to a conversion webhook, or its response.",
  {
    request: optional(1, ConversionRequest, "Attributes of the conversion request."),
    response: optional(2, ConversionResponse, "Response of the webhook."),
  },
);
export type ConversionReview = TypeOf<typeof ConversionReview>;
