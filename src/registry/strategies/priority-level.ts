// Priority levels: concurrency limits of requests, and queuing of excess requests.
import { PriorityLevelConfiguration, flowcontrolV1beta2, laterFlow } from "#api";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "#base";
import type { Dialect } from "#dialect";
import { type ApiObject, type RequestContext, type Strategy, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { flowConditionErrors, flowSchema, laterFlowSchema } from "./flow-schema.ts";
import { bareStatusPart } from "./parts.ts";
import { same } from "./rules/unchanged.ts";

type Spec = PriorityLevelConfiguration["spec"];
type Exempt = NonNullable<Spec["exempt"]>;
type Limited = NonNullable<Spec["limited"]>;
type Queuing = NonNullable<Limited["limitResponse"]["queuing"]>;

/** Levels that exist on every server with exactly this spec. */
export const mandatoryPriorityLevels: Readonly<Record<string, Spec>> = {
  exempt: { type: "Exempt" },
  "catch-all": {
    type: "Limited",
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: "Reject" } },
  },
};

/** Same for releases from 1.28 on, with the values of the exempt level that users may change. */
const laterMandatoryPriorityLevels: Readonly<Record<string, Spec>> = {
  ...mandatoryPriorityLevels,
  exempt: { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
};

/** Returns the mandatory levels of a minor release. */
export const mandatoryLevelsOf = (release: number): Readonly<Record<string, Spec>> =>
  release < 28 ? mandatoryPriorityLevels : laterMandatoryPriorityLevels;

/** The older version names the shares differently. */
const sharesIn = { hub: "nominalConcurrencyShares", older: "assuredConcurrencyShares" } as const;

/**
 * Renames the shares. Shares removed by an applied configuration become zero, since conversion needs whole
 * objects.
 */
function renamed(object: ApiObject, from: string, to: string): ApiObject {
  const { spec } = object as ApiObject & { spec: { limited?: Record<string, unknown> } };
  if (!spec.limited) return object;
  const { [from]: shares = 0, ...rest } = spec.limited;
  return { ...object, spec: { ...spec, limited: { [to]: shares, ...rest } } } as ApiObject;
}

const isBeta2 = ({ schema }: RequestContext["served"]): boolean => schema.kind.version === "v1beta2";

const fromBeta2 = (served: ApiObject): PriorityLevelConfiguration =>
  renamed(served, sharesIn.older, sharesIn.hub) as PriorityLevelConfiguration;
const toBeta2 = (hub: ApiObject): ApiObject => renamed(hub, sharesIn.hub, sharesIn.older);

const keepsZero = ({ names }: Dialect): string => names.annotations.flowPreserveZeroShares;

/** In v1beta3, zero shares mean the default, unless the annotation is present, which is never stored. */
function fromBeta3(served: ApiObject, dialect: Dialect): PriorityLevelConfiguration {
  const { metadata, spec } = served as PriorityLevelConfiguration;
  const name = keepsZero(dialect);
  const isKept = metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, name);
  const { [name]: _, ...annotations } = metadata.annotations ?? {};
  const { limited } = spec;
  const shares = limited?.nominalConcurrencyShares || (isKept ? 0 : defaultShares);
  return {
    ...served,
    metadata: isKept ? { ...metadata, annotations } : metadata,
    spec: limited ? { ...spec, limited: { ...limited, nominalConcurrencyShares: shares } } : spec,
  } as PriorityLevelConfiguration;
}

function toBeta3(hub: PriorityLevelConfiguration, dialect: Dialect): ApiObject {
  const { metadata, spec } = hub;
  if (spec.limited?.nominalConcurrencyShares !== 0) return hub;
  return {
    ...hub,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [keepsZero(dialect)]: "" } },
  };
}

const defaultShares = 30;
const maxQueues = 10_000_000;
const maxEntropyBits = 60;

/** Returns the number of bits needed to draw a hand of queues, each from all queues. */
const entropyBits = (queues: number, hand: number): number => Math.ceil(Math.log2(queues) * hand);

function queuingErrors({ queueLengthLimit, queues, handSize }: Queuing, at: string): FieldError[] {
  const errors =
    queueLengthLimit <= 0
      ? [invalidValue(`${at}.queueLengthLimit`, queueLengthLimit, "must be positive")]
      : [];
  if (queues <= 0) errors.push(invalidValue(`${at}.queues`, queues, "must be positive"));
  else if (queues > maxQueues)
    errors.push(invalidValue(`${at}.queues`, queues, `must not be greater than ${maxQueues}`));
  if (handSize <= 0) errors.push(invalidValue(`${at}.handSize`, handSize, "must be positive"));
  else if (handSize > queues)
    errors.push(invalidValue(`${at}.handSize`, handSize, `should not be greater than queues (${queues})`));
  else if (entropyBits(queues, handSize) > maxEntropyBits)
    errors.push(
      invalidValue(
        `${at}.handSize`,
        handSize,
        `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxEntropyBits}`,
      ),
    );
  return errors;
}

function limitedErrors(limited: Limited, { served, settings }: RequestContext): FieldError[] {
  const {
    nominalConcurrencyShares: shares = 0,
    limitResponse: response,
    lendablePercent: lends,
    borrowingLimitPercent: borrows,
  } = limited;
  const at = "spec.limited";
  const lowest = settings.zeroShares ? 0 : 1;
  const problem = settings.zeroShares ? "must be a non-negative integer" : "must be positive";
  const errors =
    shares < lowest
      ? [invalidValue(`${at}.${isBeta2(served) ? sharesIn.older : sharesIn.hub}`, shares, problem)]
      : [];
  const path = `${at}.limitResponse`;
  if (response.type === "Reject")
    errors.push(
      ...(response.queuing
        ? [forbiddenField(`${path}.queuing`, "must be nil if limited.limitResponse.type is not Limited")]
        : []),
    );
  else if (response.type === "Queue")
    errors.push(
      ...(response.queuing
        ? queuingErrors(response.queuing, `${path}.queuing`)
        : [required(`${path}.queuing`, "must not be empty if limited.limitResponse.type is Limited")]),
    );
  else errors.push(notSupported(`${path}.type`, response.type, ["Queue", "Reject"]));
  if (lends !== undefined && (lends < 0 || lends > 100))
    errors.push(invalidValue(`${at}.lendablePercent`, lends, "must be between 0 and 100, inclusive"));
  if (borrows !== undefined && borrows < 0)
    errors.push(
      invalidValue(`${at}.borrowingLimitPercent`, borrows, "if specified, must be a non-negative integer"),
    );
  return errors;
}

function exemptErrors({
  nominalConcurrencyShares: shares = 0,
  lendablePercent: lends = 0,
}: Exempt): FieldError[] {
  const at = "spec.exempt";
  return [
    ...(shares < 0
      ? [invalidValue(`${at}.nominalConcurrencyShares`, shares, "must be a non-negative integer")]
      : []),
    ...(lends < 0 || lends > 100
      ? [invalidValue(`${at}.lendablePercent`, lends, "must be between 0 and 100, inclusive")]
      : []),
  ];
}

function specErrors({ type, limited, exempt }: Spec, ctx: RequestContext): FieldError[] {
  if (type === "Exempt")
    return [
      ...(limited ? [forbiddenField("spec.limited", "must be nil if the type is not Limited")] : []),
      ...(exempt ? exemptErrors(exempt) : []),
    ];
  if (type !== "Limited") return [notSupported("spec.type", type, ["Exempt", "Limited"])];
  return [
    ...(exempt ? [forbiddenField("spec.exempt", "must be nil if the type is Limited")] : []),
    ...(limited
      ? limitedErrors(limited, ctx)
      : [required("spec.limited", "must not be empty when type is Limited")]),
  ];
}

/** Later releases permit changes of the exempt level's shares. */
function mandatoryErrors(name: string, spec: Spec, later: boolean): FieldError[] {
  const levels = later ? laterMandatoryPriorityLevels : mandatoryPriorityLevels;
  const fixed = Object.hasOwn(levels, name) ? levels[name]! : undefined;
  if (!fixed) return [];
  if (!later || name !== "exempt")
    return same(spec, fixed)
      ? []
      : [invalidValue("spec", spec, `spec of '${name}' must equal the fixed value`)];
  const problem = `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`;
  return same({ ...spec, exempt: fixed.exempt }, fixed) ? [] : [invalidValue("spec", spec, problem)];
}

const errorsOf =
  (later: boolean) =>
  ({ metadata, spec, status }: PriorityLevelConfiguration, ctx: RequestContext): FieldError[] => {
    const name = metadata.name ?? "";
    const annotation = keepsZero(ctx.dialect);
    const errors =
      later && metadata.annotations && Object.hasOwn(metadata.annotations, annotation)
        ? [forbiddenField("metadata.annotations", `annotation '${annotation}' is forbidden`)]
        : [];
    if ((name === "exempt") !== (spec.type === "Exempt"))
      errors.push(
        invalidValue("spec.type", spec.type, "type must be 'Exempt' if and only if name is 'exempt'"),
      );
    errors.push(...specErrors(spec, ctx), ...mandatoryErrors(name, spec, later));
    return [...errors, ...flowConditionErrors(status.conditions)];
  };

const queuingCell =
  (key: keyof Queuing) =>
  ({ spec }: PriorityLevelConfiguration): string | number =>
    spec.limited?.limitResponse.queuing?.[key] ?? "<none>";

const beta2Deprecated = { since: "v1.26", until: "v1.29", instead: "v1beta3" };
const beta3Deprecated = { since: "v1.29", until: "v1.32", instead: "v1" };

export const priorityLevelConfiguration = strategy<PriorityLevelConfiguration>({
  resource: "prioritylevelconfigurations",
  singular: "prioritylevelconfiguration",
  scope: "Cluster",
  hub: PriorityLevelConfiguration,
  served: [
    { schema: PriorityLevelConfiguration },
    {
      schema: flowcontrolV1beta2.PriorityLevelConfiguration,
      toHub: fromBeta2,
      fromHub: toBeta2,
      deprecated: beta2Deprecated,
    },
  ],
  generation: true,
  status: "cleared",
  metaChecks: { asNew: 1, asChange: 0 },
  prepareForCreate: (obj) => {
    obj.status = {};
  },
  validate: errorsOf(false),
  subresources: { status: bareStatusPart(({ status }) => flowConditionErrors(status.conditions)) },
  columns: [
    nameColumn,
    {
      name: "Type",
      type: "string",
      doc: "Whether requests of this level are limited.",
      cell: ({ spec }: PriorityLevelConfiguration) => spec.type,
    },
    {
      name: "NominalConcurrencyShares",
      type: "string",
      doc: "Shares of the server's concurrency limit.",
      cell: ({ spec }: PriorityLevelConfiguration) =>
        spec.limited ? (spec.limited.nominalConcurrencyShares ?? 0) : "<none>",
    },
    { name: "Queues", type: "string", doc: "Number of queues.", cell: queuingCell("queues") },
    {
      name: "HandSize",
      type: "string",
      doc: "Number of queues from which a flow selects the shortest.",
      cell: queuingCell("handSize"),
    },
    {
      name: "QueueLengthLimit",
      type: "string",
      doc: "Maximum length of a queue.",
      cell: queuingCell("queueLengthLimit"),
    },
    ageColumn,
  ],
});

const laterBeta2 = {
  schema: laterFlow.v1beta2.PriorityLevelConfiguration,
  toHub: fromBeta2,
  fromHub: toBeta2,
  deprecated: beta2Deprecated,
};

/** Levels of 1.28: the exempt level has shares. */
const exemptLevels = {
  ...priorityLevelConfiguration,
  hub: laterFlow.v1beta3.PriorityLevelConfiguration,
  served: [{ schema: laterFlow.v1beta3.PriorityLevelConfiguration }, laterBeta2],
  validate: errorsOf(true),
};

/** Levels of releases that serve v1. */
const stableLevels = {
  ...exemptLevels,
  hub: laterFlow.v1.PriorityLevelConfiguration,
  served: [
    { schema: laterFlow.v1.PriorityLevelConfiguration },
    {
      schema: laterFlow.v1beta3WithZeros.PriorityLevelConfiguration,
      toHub: fromBeta3,
      fromHub: toBeta3,
      deprecated: beta3Deprecated,
    },
    laterBeta2,
  ],
};

/** Replaces the strategies of flow schemas and priority levels by those of a later minor release. */
export function withLaterFlows(strategies: readonly Strategy[], release: number): readonly Strategy[] {
  if (release < 28) return strategies;
  const levels = (release < 29 ? exemptLevels : stableLevels) as Strategy;
  return strategies.map((each) => {
    if (each === priorityLevelConfiguration) return levels;
    return each === flowSchema && release >= 29 ? laterFlowSchema : each;
  });
}
