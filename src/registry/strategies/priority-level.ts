// Priority levels: concurrency limits of requests, and queuing of excess requests.
import { PriorityLevelConfiguration, flowcontrolV1beta2 } from "#api";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "#base";
import { type ApiObject, type RequestContext, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { flowConditionErrors } from "./flow-schema.ts";
import { bareStatusPart } from "./parts.ts";
import { same } from "./rules/unchanged.ts";

type Spec = PriorityLevelConfiguration["spec"];
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

function limitedErrors(limited: Limited, older: boolean): FieldError[] {
  const {
    nominalConcurrencyShares: shares = 0,
    limitResponse: response,
    lendablePercent: lends,
    borrowingLimitPercent: borrows,
  } = limited;
  const at = "spec.limited";
  const errors =
    shares <= 0
      ? [invalidValue(`${at}.${older ? sharesIn.older : sharesIn.hub}`, shares, "must be positive")]
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

function errorsOf(
  { metadata, spec, status }: PriorityLevelConfiguration,
  { served }: RequestContext,
): FieldError[] {
  const name = metadata.name ?? "";
  const errors =
    (name === "exempt") === (spec.type === "Exempt")
      ? []
      : [invalidValue("spec.type", spec.type, "type must be 'Exempt' if and only if name is 'exempt'")];
  if (spec.type === "Exempt")
    errors.push(
      ...(spec.limited ? [forbiddenField("spec.limited", "must be nil if the type is not Limited")] : []),
    );
  else if (spec.type === "Limited")
    errors.push(
      ...(spec.limited
        ? limitedErrors(spec.limited, served.schema.kind.version === "v1beta2")
        : [required("spec.limited", "must not be empty when type is Limited")]),
    );
  else errors.push(notSupported("spec.type", spec.type, ["Exempt", "Limited"]));
  const fixed = Object.hasOwn(mandatoryPriorityLevels, name) ? mandatoryPriorityLevels[name] : undefined;
  if (fixed && !same(spec, fixed))
    errors.push(invalidValue("spec", spec, `spec of '${name}' must equal the fixed value`));
  return [...errors, ...flowConditionErrors(status.conditions)];
}

const queuingCell =
  (key: keyof Queuing) =>
  ({ spec }: PriorityLevelConfiguration): string | number =>
    spec.limited?.limitResponse.queuing?.[key] ?? "<none>";

export const priorityLevelConfiguration = strategy<PriorityLevelConfiguration>({
  resource: "prioritylevelconfigurations",
  singular: "prioritylevelconfiguration",
  scope: "Cluster",
  hub: PriorityLevelConfiguration,
  served: [
    { schema: PriorityLevelConfiguration },
    {
      schema: flowcontrolV1beta2.PriorityLevelConfiguration,
      toHub: (served) => renamed(served, sharesIn.older, sharesIn.hub) as PriorityLevelConfiguration,
      fromHub: (hub) => renamed(hub, sharesIn.hub, sharesIn.older),
      deprecated: { since: "v1.26", until: "v1.29", instead: "v1beta3" },
    },
  ],
  generation: true,
  status: "cleared",
  metaChecks: { asNew: 1, asChange: 0 },
  prepareForCreate: (obj) => {
    obj.status = {};
  },
  validate: errorsOf,
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
